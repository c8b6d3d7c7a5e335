import type { Client } from "@stepwell/testing/client.ts";
import { attemptOf, newPerson, newSignedInPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { issuePasswordLink } from "../../../src/auth/passwords/password-link.ts";
import { addressSubject, claimAttempt } from "../../../src/auth/passwords/sign-in-backoff.ts";
import { setPasswordByLink } from "../../../src/management/account/password-by-link.ts";
import { statement } from "../../../src/store/home/database.ts";
import { listAccountActivity } from "../../../src/store/people/account-activity.ts";
import { setDisabled } from "../../../src/store/people/user-credentials.ts";

const attemptCount = statement<{ count: number }>(
  "test_attempt_count",
  "global",
  'SELECT failure_count AS "count" FROM sign_in_backoff WHERE subject_hash = $1',
);
const newPassword = "another password, and longer";

onOneStore((home) => {
  const service = useService(home);

  /** Makes a link for setting a password, as if it had been made `madeAgoMs` milliseconds ago. */
  async function linkFor(userId: string, madeAgoMs = 0, kind: "first" | "reset" = "reset"): Promise<string> {
    const { database, engine } = service.running;
    const createdBy = { type: "service", id: "test" } as const;
    const createdAt = engine.now() - madeAgoMs;
    return (await issuePasswordLink(database, { userId, kind, createdBy, createdAt })).secret;
  }

  async function show(link: string): Promise<Response> {
    return await fetch(`${service.baseUrl}/set-password?link=${link}`);
  }

  async function submit(link: string, password = newPassword, repeated = password): Promise<Response> {
    const body = new URLSearchParams({ link, password, repeated });
    return await fetch(`${service.baseUrl}/set-password`, { method: "POST", body });
  }

  test("a link sets the password once, for its own user, and unblocks the account", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => service.running.engine.now());
    for (let index = 0; index < 8; index += 1)
      await signIn.attempt(attemptOf(person, { password: "forgotten, sadly" }));
    const link = await linkFor(person.userId);
    const page = await show(link);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(person.email);
    const set = await submit(link);
    expect(set.status).toBe(200);
    // The last page leads to the sign-in, where the new password is used.
    expect(await set.text()).toContain('href="/"');
    expect(await signIn.attempt(attemptOf(person, { password: newPassword }))).toMatchObject({ outcome: "accepted" });
    expect((await show(link)).status).toBe(404);
    expect((await submit(link, "a third password, why not")).status).toBe(404);
    expect(await signIn.attempt(attemptOf(person, { password: newPassword }))).toMatchObject({ outcome: "accepted" });
  });

  test("if ten people use one link at the same moment, exactly one sets the password", async () => {
    const person = await newPerson(service);
    const link = await linkFor(person.userId);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => submit(link, `password number ${index}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
    const password = `password number ${statuses.indexOf(200)}`;
    const signIn = signInAt(service, () => service.running.engine.now());
    expect(await signIn.attempt(attemptOf(person, { password }))).toMatchObject({ outcome: "accepted" });
  });

  test("fifty simultaneous uses of one link compute at most two hashes, and the forty-nine that fail count against the network address", async () => {
    const { database, engine } = service.running;
    const { userId } = await newPerson(service);
    const secret = await linkFor(userId);
    const signIn = signInAt(service, () => engine.now());
    const forgotten: string[] = [];
    const authenticator = { forgetUser: (id: string) => forgotten.push(id) };
    const parts = { database, engine, signIn, authenticator };
    const subject = addressSubject("192.0.2.1");
    // All hashing waits until each use has found the link and is counted. A use that finds no link any more would not be counted.
    const allCounted = Promise.withResolvers<void>();
    const turns = Array.from({ length: 2 }, () => signIn.hasher.inTurn(() => allCounted.promise));
    const uses = Array.from({ length: 50 }, () =>
      setPasswordByLink(parts, { secret, newPassword, address: "192.0.2.1" }),
    );
    await expect.poll(() => database.query(attemptCount, [subject.hash])).toEqual([{ count: 50 }]);
    allCounted.resolve();
    await Promise.all(turns);
    const outcomes = await Promise.all(uses);
    expect(outcomes.filter(({ outcome }) => outcome === "set").length).toBe(1);
    expect(outcomes.filter(({ outcome }) => outcome === "dead-link").length).toBe(49);
    expect(signIn.hasher.hashCount).toBeLessThanOrEqual(2);
    expect(forgotten).toEqual([userId]);
    expect(await database.query(attemptCount, [subject.hash])).toEqual([{ count: 49 }]);
  });

  test("an address with too many failed attempts uses no link, and a use that succeeds does not count", async () => {
    const { database, engine } = service.running;
    const signIn = signInAt(service, () => engine.now());
    const parts = { database, engine, signIn, authenticator: { forgetUser() {} } };
    const secret = await linkFor((await newPerson(service)).userId);
    const [blocked, free] = [addressSubject("192.0.2.2"), addressSubject("192.0.2.3")];
    for (let count = 0; count < 100; count += 1) await claimAttempt(database, [blocked], engine.now());
    await expect(setPasswordByLink(parts, { secret, newPassword, address: "192.0.2.2" })).rejects.toMatchObject({
      code: "RateLimitError",
      message: expect.stringMatching(/Try again in (?:1 second|(?:[2-9]|\d\d+) seconds)\./),
      retryAfterSeconds: expect.any(Number),
    });
    expect(signIn.hasher.hashCount).toBe(0);
    const set = await setPasswordByLink(parts, { secret, newPassword, address: "192.0.2.3" });
    expect(set.outcome).toBe("set");
    expect((await claimAttempt(database, [free], engine.now()))?.[0]?.count).toBe(1);
  });

  test("a use that is rejected because too many passwords are being checked does not count, and the link still works", async () => {
    const { database, engine } = service.running;
    const signIn = signInAt(service, () => engine.now());
    const parts = { database, engine, signIn, authenticator: { forgetUser() {} } };
    const use = { secret: await linkFor((await newPerson(service)).userId), newPassword, address: "192.0.2.4" };
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const turns = Promise.allSettled(Array.from({ length: 300 }, () => signIn.hasher.inTurn(() => over)));
    await expect(setPasswordByLink(parts, use)).rejects.toMatchObject({ code: "UnavailableError" });
    end();
    await turns;
    expect((await claimAttempt(database, [addressSubject(use.address)], engine.now()))?.[0]?.count).toBe(1);
    expect(await setPasswordByLink(parts, use)).toMatchObject({ outcome: "set" });
  });

  test("a reset link lives an hour, a link for a first password three days, and a newer link ends the older", async () => {
    const { userId } = await newPerson(service);
    const hourMs = 3_600_000;
    expect((await show(await linkFor(userId, hourMs - 60_000))).status).toBe(200);
    expect((await submit(await linkFor(userId, hourMs + 1_000))).status).toBe(404);
    expect((await show(await linkFor(userId, 71 * hourMs, "first"))).status).toBe(200);
    expect((await show(await linkFor(userId, 73 * hourMs, "first"))).status).toBe(404);
    const older = await linkFor(userId);
    const newer = await linkFor(userId);
    expect([(await show(older)).status, (await show(newer)).status]).toEqual([404, 200]);
  });

  test("a changed password ends the link that was made before, and a disabled user's link does not work", async () => {
    const { userId, client } = await newSignedInPerson(service);
    const { database, engine } = service.running;
    const link = await linkFor(userId);
    await client.call("ChangePassword", { body: { currentPassword: rightPassword, newPassword }, status: 204 });
    expect((await show(link)).status).toBe(404);
    const another = await linkFor(userId);
    await setDisabled(database, userId, engine.now());
    expect([(await show(another)).status, (await submit(another)).status]).toEqual([404, 404]);
  });

  test("the page says what is wrong with a rejected password, and the link still works", async () => {
    const { userId } = await newPerson(service);
    const link = await linkFor(userId);
    for (const [password, repeated, said] of [
      ["short", "short", "at least 12 characters"],
      [newPassword, `${newPassword}!`, "are not the same"],
      ["passwordpassword", "passwordpassword", "an attacker would try"],
    ] as const) {
      const answer = await submit(link, password, repeated);
      expect(answer.status).toBe(400);
      const page = await answer.text();
      expect(page).toContain(said);
      expect(page).not.toContain(password === newPassword ? newPassword : `"${password}"`);
    }
    expect((await submit(link)).status).toBe(200);
  });

  test("the page sends no referrer, is not cached, runs no script and cannot be framed", async () => {
    const { headers } = await show(await linkFor((await newPerson(service)).userId));
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toMatch(/^(no-referrer|same-origin)$/);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("set-cookie")).toBeNull();
  });

  test("invented links and invalid forms are rejected", async () => {
    for (const link of ["", "x", "%00", "x".repeat(2_000)]) {
      expect((await show(link)).status, link).toBe(404);
      expect((await submit(link)).status, link).toBe(404);
    }
    const url = `${service.baseUrl}/set-password`;
    expect((await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "text/plain" } })).status).toBe(
      415,
    );
    expect((await fetch(url, { method: "POST", body: new URLSearchParams({ link: "x".repeat(20_000) }) })).status).toBe(
      413,
    );
    expect((await fetch(url, { method: "POST" })).status).toBe(404);
    const form = new URLSearchParams({ name: "w" });
    expect((await fetch(`${service.baseUrl}/account/tokens`, { method: "POST", body: form })).status).toBe(401);
  });

  test("an owner makes a link for a member, and the member's activity records it without the link itself", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["developer"]);
    const params = { userId: member.userId };
    const { body, status } = await organization.api.call<{ link: string }>("CreatePasswordLink", { params });
    expect(status).toBe(201);
    const secret = new URL(body.link).searchParams.get("link") ?? "";
    expect(body.link).toBe(`${service.baseUrl}/set-password?link=${secret}`);
    expect((await submit(secret)).status).toBe(200);
    const activities = await listAccountActivity(service.running.database, member.userId, null, 10);
    const actions = activities.map(({ action }) => action).toSorted();
    expect(actions).toEqual(["password-link-made", "password-set-by-link"]);
    expect(JSON.stringify(activities)).not.toContain(secret);
    await organization.api.refused("CreatePasswordLink", "NotFoundError", {
      params: { userId: (await service.newUser()).userId },
    });
  });

  test("a link cannot be made for a user with more permissions, for oneself, or by an API token", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    await api.call("CreateRole", { body: { name: "people", permissions: ["member:update", "member:read"] } });
    const helper = await service.newMember(organization, ["people"]);
    const viewer = await service.newMember(organization, ["people"]);
    await helper.api.refused("CreatePasswordLink", "AuthorizationError", { params: { userId: owner.userId } });
    await helper.api.call("CreatePasswordLink", { params: { userId: viewer.userId } });
    await helper.api.refused("CreatePasswordLink", "AuthorizationError", { params: { userId: helper.userId } });
    const token = { name: "t", permissions: ["member:update", "member:read"] };
    const { body } = await api.call<{ token: string }>("CreateApiToken", { body: token });
    await api.as(body.token).refused("CreatePasswordLink", "AuthorizationError", { params: { userId: viewer.userId } });
  });

  test("an owner of one organization cannot take over an account that is also in another, or that joins another later", async () => {
    const organization = await service.newOrganization();
    const other = await service.newOrganization();
    const member = await service.newMember(organization, ["developer"]);
    const params = { userId: member.userId };
    const { body } = await organization.api.call<{ link: string }>("CreatePasswordLink", { params });
    await service.addMember(other.organizationId, member.userId, ["owner"]);
    expect((await submit(new URL(body.link).searchParams.get("link") ?? "")).status).toBe(404);
    const { body: problem } = await organization.api.refused("CreatePasswordLink", "AuthorizationError", { params });
    expect(problem.detail).toContain("stepwell user reset-link");
  });

  /** Makes a link through the API, as a member does for another member. */
  async function linkBy(maker: Client, userId: string): Promise<string> {
    const { body } = await maker.call<{ link: string }>("CreatePasswordLink", { params: { userId } });
    return new URL(body.link).searchParams.get("link") ?? "";
  }

  async function expectDead(link: string): Promise<void> {
    expect([(await show(link)).status, (await submit(link)).status]).toEqual([404, 404]);
  }

  test("a link ends when its member leaves the organization, and stays ended if the member joins another", async () => {
    const organization = await service.newOrganization();
    const other = await service.newOrganization();
    const member = await service.newMember(organization, ["developer"]);
    const link = await linkBy(organization.api, member.userId);
    await organization.api.call("RemoveMember", { params: { userId: member.userId } });
    await expectDead(link);
    await service.addMember(other.organizationId, member.userId, ["owner"]);
    await expectDead(link);
  });

  test("a link gives no more than its maker's permissions at the time of its use", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const evicted = await service.newMember(organization, ["owner"]);
    const victim = await service.newMember(organization, ["owner"]);
    const ofEvicted = await linkBy(evicted.api, victim.userId);
    expect((await show(ofEvicted)).status).toBe(200);
    await api.call("RemoveMember", { params: { userId: evicted.userId } });
    await expectDead(ofEvicted);
    await api.call("CreateRole", { body: { name: "people", permissions: ["member:update", "member:read"] } });
    const helper = await service.newMember(organization, ["people"]);
    const promoted = await service.newMember(organization, ["people"]);
    const ofHelper = await linkBy(helper.api, promoted.userId);
    await api.call("UpdateMember", { params: { userId: promoted.userId }, body: { roles: ["owner"] } });
    await expectDead(ofHelper);
  });
});
