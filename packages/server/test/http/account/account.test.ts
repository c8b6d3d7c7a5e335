import { attemptOf, newSignedInPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";
import { setDisabled } from "../../../src/store/people/user-credentials.ts";
import { useCluster } from "../../engine/node/cluster.ts";

interface CreatedUserToken {
  readonly userTokenId: string;
  readonly token: string;
  readonly tokenPrefix: string;
}

interface Activities {
  readonly activities: readonly Activity[];
}

interface Activity {
  readonly action: string;
  readonly happenedAt: string;
  readonly details: Record<string, string>;
}

const newPassword = "another password, and longer";

onOneStore((home) => {
  const service = useService(home);

  test("a signed-in user sees their own account, and can change their name", async () => {
    const { client, userId, email } = await newSignedInPerson(service);
    const { body } = await client.call("GetAccount");
    const stated = { userId, email, displayName: "A user", hasPassword: true, recoveryCodesLeft: 0 };
    expect(body).toEqual({ ...stated, createdAt: expect.any(String) });
    const changed = await client.call("UpdateAccount", { body: { displayName: "Ada" } });
    expect(changed.body).toEqual({ ...body, displayName: "Ada" });
    const { activities } = (await client.call<Activities>("ListAccountActivity")).body;
    expect(activities).toMatchObject([{ action: "account-renamed", details: { from: "A user", to: "Ada" } }]);
    const problem = await client.refused("UpdateAccount", "ValidationError", { body: { email: "x@y.z" } });
    expect(problem.body.errors).toContainEqual({
      pointer: "/email",
      detail: "is not known here; known here: `displayName`",
    });
  });

  test("an API token has no access to any account, whatever its permissions", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["member:update"] };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    await api.as(token).refused("GetAccount", "AuthorizationError");
    await api.as(token).refused("CreateUserToken", "AuthorizationError", { body: { name: "t" } });
  });

  describe("the password", () => {
    test("can be changed with the current password, and only the new one works afterwards", async () => {
      const person = await newSignedInPerson(service);
      const signIn = signInAt(service, () => service.running.engine.now());
      const before = await signIn.attempt(attemptOf(person));
      expect(before.outcome).toBe("accepted");
      const body = { currentPassword: rightPassword, newPassword };
      await person.client.call("ChangePassword", { body, status: 204 });
      expect(await signIn.attempt(attemptOf(person))).toEqual({ outcome: "rejected" });
      expect(await signIn.attempt(attemptOf(person, { password: newPassword }))).toMatchObject({ outcome: "accepted" });
      const { activities } = (await person.client.call<Activities>("ListAccountActivity")).body;
      expect(actionsOf(activities)).toEqual(["password-changed", "sign-in-refused"]);
    });

    test("cannot be changed without the current password, and guesses are slowed down as at the sign-in", async () => {
      const { client } = await newSignedInPerson(service);
      const body = { currentPassword: "not the password", newPassword };
      for (let index = 0; index < 5; index += 1) {
        const { body: problem } = await client.refused("ChangePassword", "ValidationError", { body });
        expect(problem.errors).toEqual([{ pointer: "/currentPassword", detail: "is not your password" }]);
      }
      const right = { currentPassword: rightPassword, newPassword };
      const { headers, body: problem } = await client.refused("ChangePassword", "RateLimitError", { body: right });
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(problem.detail).toMatch(/Try again in (?:1 second|(?:[2-9]|\d\d+) seconds)\./);
    });

    test("is changed once if two requests change it at the same moment", async () => {
      const { client } = await newSignedInPerson(service);
      const answers = await Promise.all(
        [newPassword, `${newPassword}!`].map((chosen) =>
          client.callAny("ChangePassword", { body: { currentPassword: rightPassword, newPassword: chosen } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    });

    test("an account without a password cannot change it, and the answer says what to do", async () => {
      const { client } = await newSignedInPerson(service, null);
      const body = { currentPassword: rightPassword, newPassword };
      const { body: problem } = await client.refused("ChangePassword", "ConflictError", { body });
      expect(problem.detail).toContain("Ask an owner");
    });

    test.each([
      ["11 characters", "12345 78901", "must have at least 12 characters"],
      ["11 characters that are two UTF-16 halves each", "😀".repeat(11), "must have at least 12 characters"],
      ["257 characters", "x y".repeat(86), "must have at most 256 characters"],
      ["half a megabyte", "x".repeat(500_000), "must have at most 256 characters"],
      ["one of the most common", "Password1234", "is one of the passwords that an attacker would try first"],
      ["one character again and again", "aaaaaaaaaaaaaaaa", "is one of the passwords that an attacker would try first"],
      ["the same as before", rightPassword, "must not be the same as the current password"],
      ["empty", "", "must have at least 12 characters"],
    ])("is rejected if it is %s, without a check of the current one", async (_name, chosen, detail) => {
      const { client } = await newSignedInPerson(service);
      const currentPassword = chosen === rightPassword ? rightPassword : "not the password";
      const body = { currentPassword, newPassword: chosen };
      const { body: problem } = await client.refused("ChangePassword", "ValidationError", { body });
      expect(problem.errors).toEqual([{ pointer: "/newPassword", detail }]);
      expect((await client.call<Activities>("ListAccountActivity")).body.activities).toEqual([]);
    });

    test("is rejected if it is the e-mail address, or contains a NUL", async () => {
      const { client, email } = await newSignedInPerson(service);
      for (const chosen of [email.toUpperCase(), "a long password\0"]) {
        const body = { currentPassword: rightPassword, newPassword: chosen };
        await client.refused("ChangePassword", "ValidationError", { body });
      }
    });
  });

  describe("a user token", () => {
    test("is shown once, acts as its user, and is deleted when it is revoked", async () => {
      const { client } = await newSignedInPerson(service);
      const { body } = await client.call<CreatedUserToken>("CreateUserToken", { body: tokenNamed("laptop") });
      expect(body.token.startsWith(body.tokenPrefix)).toBe(true);
      const own = client.as(body.token);
      expect((await own.call("GetAccount")).body).toEqual((await client.call("GetAccount")).body);
      const { userTokens } = (await own.call<{ userTokens: object[] }>("ListUserTokens")).body;
      expect(userTokens).toHaveLength(2);
      expect(userTokens[0]).toMatchObject({
        userTokenId: body.userTokenId,
        name: "laptop",
        tokenPrefix: body.tokenPrefix,
      });
      expect(JSON.stringify(userTokens)).not.toContain(body.token);

      const params = { userTokenId: body.userTokenId };
      await own.call("RevokeUserToken", { params, status: 204 });
      await own.refused("GetAccount", "AuthenticationError");
      await client.refused("RevokeUserToken", "NotFoundError", { params });
      expect((await client.call<{ userTokens: object[] }>("ListUserTokens")).body.userTokens).toHaveLength(1);
      const { activities } = (await client.call<Activities>("ListAccountActivity")).body;
      expect(actionsOf(activities)).toEqual(["user-token-created", "user-token-revoked"]);
    });

    test("expires at its time, and is created without an Idempotency-Key, since it is shown only once", async () => {
      const { client } = await newSignedInPerson(service);
      const past = { ...tokenNamed("t"), expiresAt: "2020-01-01T00:00:00Z" };
      await client.refused("CreateUserToken", "ValidationError", { body: past });
      const headers = { "idempotency-key": "k" };
      await client.refused("CreateUserToken", "ValidationError", { body: tokenNamed("t"), headers });
      const expiresAt = new Date(service.running.engine.now() + 3_000).toISOString();
      const body = { ...tokenNamed("t"), expiresAt };
      const { token } = (await client.call<CreatedUserToken>("CreateUserToken", { body })).body;
      await client.as(token).call("GetAccount");
      await expect.poll(async () => (await client.as(token).callAny("GetAccount", {})).status).toBe(401);
    });

    test("a user token of another user gets the same answer as an unknown one", async () => {
      const ada = await newSignedInPerson(service);
      const eve = await newSignedInPerson(service);
      const { body } = await ada.client.call<CreatedUserToken>("CreateUserToken", { body: tokenNamed("t") });
      const params = { userTokenId: body.userTokenId };
      const foreign = await eve.client.refused("RevokeUserToken", "NotFoundError", { params });
      const nobodys = { userTokenId: "00000000-0000-7000-8000-000000000000" };
      const unknown = await eve.client.refused("RevokeUserToken", "NotFoundError", { params: nobodys });
      expect({ ...foreign.body, requestId: "" }).toEqual({ ...unknown.body, requestId: "" });
      await ada.client.as(body.token).call("GetAccount");
    });

    test("a token of a disabled user is rejected within a second, and works again when the user is enabled", async () => {
      const { client, userId } = await newSignedInPerson(service);
      const { database, engine } = service.running;
      await client.call("GetAccount");
      await setDisabled(database, userId, engine.now());
      await expect
        .poll(async () => (await client.callAny("GetAccount", {})).status, { timeout: secondWithSlackMs })
        .toBe(401);
      await setDisabled(database, userId, null);
      await expect
        .poll(async () => (await client.callAny("GetAccount", {})).status, { timeout: secondWithSlackMs })
        .toBe(200);
    });
  });

  test("the activity comes in pages, newest first", async () => {
    const { client } = await newSignedInPerson(service);
    for (const name of ["a", "b", "c"]) await client.call("CreateUserToken", { body: tokenNamed(name) });
    type Page = Activities & { readonly nextPageToken?: string };
    const first = (await client.call<Page>("ListAccountActivity", { query: { pageSize: 2 } })).body;
    const pageToken = first.nextPageToken ?? "";
    const second = (await client.call<Page>("ListAccountActivity", { query: { pageSize: 2, pageToken } })).body;
    const all = [...first.activities, ...second.activities];
    expect(all.map(({ details }) => details.name).toSorted()).toEqual(["a", "b", "c"]);
    const times = all.map(({ happenedAt }) => happenedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect([first.activities.length, second.nextPageToken]).toEqual([2, undefined]);
  });
});

describe("on two nodes", () => {
  const cluster = useCluster(2);

  test("a user token that is revoked on one node is rejected on the other within a second", async () => {
    const { client } = await newSignedInPerson(cluster.node(0));
    const { body } = await client.call<CreatedUserToken>("CreateUserToken", { body: tokenNamed("t") });
    const there = cluster.node(1).client(body.token);
    await there.call("GetAccount");
    await client.call("RevokeUserToken", { params: { userTokenId: body.userTokenId }, status: 204 });
    await expect
      .poll(async () => (await there.callAny("GetAccount", {})).status, { timeout: secondWithSlackMs, interval: 20 })
      .toBe(401);
  });
});

/** The body of a request for a user token, with the confirmation that the request needs. */
function tokenNamed(name: string) {
  return { name, password: rightPassword };
}

/** The actions are sorted by name, since two of them may change places when the node's clock is being set by the database's clock. */
function actionsOf(activities: readonly Activity[]): string[] {
  return activities.map(({ action }) => action).toSorted();
}
