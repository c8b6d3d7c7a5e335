import * as openid from "openid-client";
import { expect, test } from "vitest";
import { issuePasswordLink } from "../../src/auth/password-link.ts";
import { newPerson, rightPassword } from "../support/people.ts";
import { useService } from "../support/service.ts";
import { discover, signIn } from "../support/sign-in.ts";
import { onEveryStore } from "../support/stores.ts";

const newPassword = "another password, and longer";

onEveryStore((home) => {
  const service = useService(home);

  async function statusOf(idToken: string): Promise<number> {
    return (await service.client(idToken).callAny("GetAccount", {})).status;
  }

  test("who changes their password stays signed in where they did it, and nowhere else", async () => {
    const person = await newPerson(service);
    const here = await signIn(service.baseUrl, person);
    const there = await signIn(service.baseUrl, person);
    expect([await statusOf(here.idToken), await statusOf(there.idToken)]).toEqual([200, 200]);
    const body = { currentPassword: rightPassword, newPassword };
    await service.client(here.idToken).call("ChangePassword", { body, status: 204 });
    expect([await statusOf(here.idToken), await statusOf(there.idToken)]).toEqual([200, 401]);
    const configuration = await discover(service.baseUrl);
    await expect(openid.refreshTokenGrant(configuration, there.refreshToken)).rejects.toThrow();
    await openid.refreshTokenGrant(configuration, here.refreshToken);
  });

  test("a password that is set by a link ends every session", async () => {
    const person = await newPerson(service);
    const { idToken } = await signIn(service.baseUrl, person);
    expect(await statusOf(idToken)).toBe(200);
    const { database, engine } = service.running;
    const createdBy = { type: "service", id: "test" } as const;
    const asked = { userId: person.userId, kind: "reset", createdBy, createdAt: engine.now() } as const;
    const { secret } = await issuePasswordLink(database, asked);
    const form = new URLSearchParams({ link: secret, password: newPassword, repeated: newPassword });
    expect((await fetch(`${service.baseUrl}/set-password`, { method: "POST", body: form })).status).toBe(200);
    expect(await statusOf(idToken)).toBe(401);
  });
});
