import { attemptOf, newPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { discover, signIn } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import * as openid from "openid-client";
import { expect, test } from "vitest";
import { ScopedStore } from "../../../src/auth/oidc/scoped-store.ts";
import { type SessionGrounds, Sessions } from "../../../src/auth/oidc/sessions.ts";
import { hashAlone } from "../../../src/auth/passwords/password-hasher.ts";
import { issuePasswordLink } from "../../../src/auth/passwords/password-link.ts";
import { setPassword } from "../../../src/store/people/user-credentials.ts";

const newPassword = "another password, and longer";

onOneStore((home) => {
  const service = useService(home);

  async function statusOf(idToken: string): Promise<number> {
    return (await service.client(idToken).callAny("GetAccount", {})).status;
  }

  test("a user who changes the password stays signed in only where the change was made", async () => {
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

  test("a session starts only while the checked password, or the session of the known browser, is still valid", async () => {
    const { database, engine } = service.running;
    const person = await newPerson(service);
    const { userId } = person;
    const parts = { now: () => engine.now(), newId: () => engine.newId(), sessionHours: 1, sessionIdleHours: 1 };
    const sessions = new Sessions({ ...parts, store: new ScopedStore(database) });
    const begin = (grounds: SessionGrounds) =>
      sessions.begin({ userId, signedInBy: "test", userAgent: "", address: "", grounds });
    const attempt = () => signInAt(service, () => engine.now()).attempt(attemptOf(person));
    const accepted = await attempt();
    if (accepted.outcome !== "accepted") throw new Error("The password is right.");
    const { passwordChangedAt, deviceId } = accepted;
    const password = { type: "password", passwordChangedAt, deviceId } as const;
    const browser = { type: "session", sessionId: (await begin(password)) ?? "" } as const;
    expect(await begin(browser)).toBeDefined();
    await setPassword(database, userId, await hashAlone(newPassword), engine.now());
    expect(await begin(password)).toBeUndefined();
    await sessions.end({ userId, sessionId: browser.sessionId, action: "session-ended", address: "" });
    expect(await begin(browser)).toBeUndefined();
  });
});
