import { randomUUID } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import {
  giveSecondFactor,
  newPerson,
  newSignedInPerson,
  refusedCount,
  rightPassword,
} from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

interface CreatedUserToken {
  readonly userTokenId: string;
  readonly token: string;
}

const maxUserTokens = 4;

onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_USER_TOKENS: String(maxUserTokens) });
  const body = { name: "t", password: rightPassword };

  async function tokenCount(client: Client): Promise<number> {
    return (await client.call<{ userTokens: object[] }>("ListUserTokens")).body.userTokens.length;
  }

  test("a stolen session or token creates no user token without the password", async () => {
    const person = await newPerson(service);
    const { idToken } = await signIn(service.baseUrl, person);
    const session = service.client(idToken);
    const { body: missing } = await session.refused("CreateUserToken", "ValidationError", { body: { name: "t" } });
    expect(missing.type).toBe("urn:stepwell:error:ValidationError:password-needed");
    expect(missing.errors).toEqual([{ pointer: "/password", detail: "is missing: confirm that it is you" }]);
    const wrong = { name: "t", password: "not the password" };
    const { body: refused } = await session.refused("CreateUserToken", "ValidationError", { body: wrong });
    expect(refused.errors).toEqual([{ pointer: "/password", detail: "is not your password" }]);
    expect(await tokenCount(session)).toBe(0);

    const { token } = (await session.call<CreatedUserToken>("CreateUserToken", { body })).body;
    const taken = service.client(token);
    await taken.refused("CreateUserToken", "ValidationError", { body: { name: "t" } });
    expect(await tokenCount(session)).toBe(1);
  });

  test("wrong confirmations are slowed down and recorded like wrong passwords, and a missing one has no effect", async () => {
    const person = await newSignedInPerson(service);
    const { client } = person;
    for (let index = 0; index < 8; index += 1) {
      await client.refused("CreateUserToken", "ValidationError", { body: { name: "t" } });
    }
    expect(await refusedCount(service, person)).toBe(0);
    for (let index = 0; index < 5; index += 1) {
      await client.refused("CreateUserToken", "ValidationError", { body: { name: "t", password: "not the password" } });
    }
    expect(await refusedCount(service, person)).toBe(5);
    const { headers } = await client.refused("CreateUserToken", "RateLimitError", { body });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    // All confirmations by password share one count.
    await client.refused("StartSecondFactor", "RateLimitError", { body: { password: rightPassword } });
    expect(await tokenCount(client)).toBe(1);
  });

  test("an account with a second factor must also enter its code, and each code works once", async () => {
    const person = await newSignedInPerson(service);
    const { codeAt } = await giveSecondFactor(service, person);
    const { client } = person;
    const { body: missing } = await client.refused("CreateUserToken", "ValidationError", { body });
    expect(missing.type).toBe("urn:stepwell:error:ValidationError:code-needed");
    expect(missing.errors?.[0]?.pointer).toBe("/code");
    const code = codeAt(service.running.engine.now());
    await client.refused("CreateUserToken", "ValidationError", {
      body: { ...body, password: "not the password", code },
    });
    await client.call("CreateUserToken", { body: { ...body, code } });
    const { body: again } = await client.refused("CreateUserToken", "ValidationError", { body: { ...body, code } });
    expect(again.errors?.[0]?.pointer).toBe("/code");
    expect(await tokenCount(client)).toBe(2);
  });

  test("an account without a password gets an error that names the required confirmation", async () => {
    const { client } = await newSignedInPerson(service, null);
    const { body: problem } = await client.refused("CreateUserToken", "ConflictError", { body });
    expect(problem.type).toBe("urn:stepwell:error:ConflictError:fresh-sign-in-needed");
    expect(problem.detail).toContain("prompt=login");
  });

  test("a confirmation with a password is not valid after the password was changed", async () => {
    const { client } = await newSignedInPerson(service);
    const once = { body, headers: { "amz-sdk-invocation-id": randomUUID() } };
    await client.call("CreateUserToken", once);
    const change = { currentPassword: rightPassword, newPassword: "another password, and longer" };
    await client.call("ChangePassword", { body: change });
    const { body: problem } = await client.refused("CreateUserToken", "ConflictError", once);
    expect(problem.detail).toContain("password has just been changed");
  });

  describe("the maximum of user tokens of an account", () => {
    test("is reported in an error that says what to do", async () => {
      const { client, tokenId } = await newSignedInPerson(service);
      for (let count = 1; count < maxUserTokens; count += 1) await client.call("CreateUserToken", { body });
      const { body: problem } = await client.refused("CreateUserToken", "ConflictError", { body });
      expect(problem.detail).toContain(`at most ${maxUserTokens} valid user tokens`);
      expect(problem.detail).toContain("Revoke one");
      expect(problem.detail).toContain("STEPWELL_MAX_USER_TOKENS");
      const list = (await client.call<{ userTokens: { userTokenId: string }[] }>("ListUserTokens")).body.userTokens;
      const [other] = list.filter(({ userTokenId }) => userTokenId !== tokenId);
      await client.call("RevokeUserToken", { params: { userTokenId: other?.userTokenId ?? "" } });
      await client.call("CreateUserToken", { body });
    });

    test("is exact even if the requests come at the same moment", async () => {
      const { client } = await newSignedInPerson(service);
      const answers = await Promise.all(
        Array.from({ length: maxUserTokens + 1 }, () => client.callAny("CreateUserToken", { body })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(maxUserTokens - 1);
      expect(await tokenCount(client)).toBe(maxUserTokens);
    });

    test("does not include an expired token", async () => {
      const { client, userId } = await newSignedInPerson(service);
      for (let count = 1; count < maxUserTokens; count += 1) await client.call("CreateUserToken", { body });
      const text = "UPDATE user_token SET expires_at = now() - interval '1 minute' WHERE user_id = $1 AND name = 't'";
      await ask(service.running.database, text, userId);
      await client.call("CreateUserToken", { body });
    });
  });
});
