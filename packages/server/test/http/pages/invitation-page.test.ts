import { randomUUID } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { Browser } from "@stepwell/testing/browser.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { newPerson, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { hashAlone } from "../../../src/auth/passwords/password-hasher.ts";
import { addressSubject, claimAttempt } from "../../../src/auth/passwords/sign-in-backoff.ts";
import { setPassword } from "../../../src/store/people/user-credentials.ts";
import { findUserByEmail } from "../../../src/store/people/users.ts";

interface NewInvitation {
  readonly invitationId: string;
  readonly link: string;
}

const goodPassword = "a few words in a row";

onOneStore((home) => {
  const service = useService(home, { STEPWELL_TRUSTED_PROXIES: "127.0.0.0/8, ::1" });

  async function invite(api: Client, body: object = { roles: ["viewer"] }): Promise<NewInvitation> {
    return (await api.call<NewInvitation>("CreateInvitation", { body })).body;
  }

  async function visit(link: string): Promise<{ status: number; text: string; headers: Headers }> {
    const response = await fetch(link);
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  async function submit(link: string, fields: Record<string, string>): Promise<{ status: number; text: string }> {
    const response = await fetch(link, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
    return { status: response.status, text: await response.text() };
  }

  function newAccount(email: string, changes: Record<string, string> = {}): Record<string, string> {
    return { account: "new", newEmail: email, displayName: "Ada", newPassword: goodPassword, ...changes };
  }

  const knownAccount = (email: string, password = goodPassword) => ({ account: "known", email, password });
  const newEmail = () => `${randomUUID()}@example.org`;

  async function memberEmails(api: Client): Promise<string[]> {
    const { body } = await api.call<{ members: { email: string }[] }>("ListMembers");
    return body.members.map(({ email }) => email).slice(1);
  }

  test("a person without an account creates one and becomes a member in one step", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { link, invitationId } = await invite(api);
    const page = await visit(link);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).not.toContain("<script");
    const email = newEmail();
    const joined = await submit(link, newAccount(email));
    expect(joined.status).toBe(200);
    // After the invitation is accepted, the last page links to the organization.
    expect(joined.text).toContain(`href="/app/organizations/${organizationId}"`);
    expect(await memberEmails(api)).toEqual([email]);
    const { body } = await api.call("GetInvitation", { params: { invitationId } });
    const user = await findUserByEmail(service.running.database, email);
    expect(body).toMatchObject({ status: "accepted", acceptedBy: user?.userId });
    expect(user?.displayName).toBe("Ada");

    const audit = { name: "audited", scope: "organization", planned: "each-time" } as const;
    const text = "SELECT actor FROM audit_entry WHERE organization_id = $1 AND action = 'AcceptInvitation'";
    const rows = await service.running.database.query({ ...audit, text }, [organizationId]);
    expect(rows).toEqual([{ actor: { type: "user", id: user?.userId, name: "Ada" } }]);
  });

  test.each([
    ["this page", "need not type the password again", "same-origin"],
    ["another site", "must sign in", "cross-site"],
  ])("a user who joins by a form of %s %s", async (_form, _then, site) => {
    const { api } = await service.newOrganization();
    const { link } = await invite(api);
    const response = await fetch(link, {
      method: "POST",
      body: new URLSearchParams(newAccount(newEmail())),
      headers: { "sec-fetch-site": site },
    });
    expect(response.status).toBe(200);
    const cookie = response.headers.get("set-cookie");
    if (site === "cross-site") expect(cookie).toBeNull();
    else expect(cookie).toMatch(/^stepwell-link=[^;]+; Path=\/oidc\/sign-in; Max-Age=60; HttpOnly; SameSite=Lax$/);
  });

  test.each([
    ["with a new account", false],
    ["with the account that they have", true],
  ])(
    "a person who joined %s is signed in without the password, but not after the password was changed",
    async (_, isKnown) => {
      const { database, engine } = service.running;
      const { link } = await invite((await service.newOrganization()).api);
      const email = isKnown ? (await newPerson(service)).email : newEmail();
      const { account: _account, ...fields } = isKnown ? knownAccount(email, rightPassword) : newAccount(email);
      const browser = new Browser();
      const headers = { "sec-fetch-site": "same-origin" };
      const joined = await browser.submit(await browser.open(link), fields, () => false, headers);
      expect(joined.status).toBe(200);
      const later = browser.clone();
      const begun = await beginSignIn(await discover(service.baseUrl), service.baseUrl);
      const { url } = await browser.open(begun.url, isArrival);
      const { id_token: idToken } = await begun.finish(url);
      const { body: account } = await service.client(idToken).call<{ userId: string }>("GetAccount");
      expect(account).toMatchObject({ email });

      await setPassword(database, account.userId, await hashAlone("another password, and longer"), engine.now());
      const refused = await later.open(
        (await beginSignIn(await discover(service.baseUrl), service.baseUrl)).url,
        isArrival,
      );
      expect([refused.status, later.cookieNames().includes("stepwell-link")]).toEqual([409, false]);
      const sessions = "SELECT signed_in_by FROM user_session WHERE user_id = $1";
      expect(await ask(database, sessions, account.userId)).toEqual([{ signed_in_by: "link" }]);
    },
  );

  test("a person with an account signs in and becomes a member", async () => {
    const first = await service.newOrganization();
    const second = await service.newOrganization();
    const email = newEmail();
    await submit((await invite(first.api)).link, newAccount(email));
    const { link } = await invite(second.api, { roles: ["ci"] });
    const wrong = await submit(link, knownAccount(email, "something else"));
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('role="alert"');
    expect(await memberEmails(second.api)).toEqual([]);
    expect(await submit(link, knownAccount(email.toUpperCase()))).toMatchObject({ status: 200 });
    expect(await memberEmails(second.api)).toEqual([email]);
    expect(await submit(link, knownAccount(email))).toMatchObject({ status: 409 });
  });

  test("a person who types too many wrong passwords into an invitation is told how long to wait", async () => {
    const { api } = await service.newOrganization();
    const { link } = await invite(api);
    const { email } = await newPerson(service);
    let answer = await submit(link, knownAccount(email, "something else"));
    for (let left = 20; left > 0 && answer.status !== 429; left -= 1) {
      answer = await submit(link, knownAccount(email, "something else"));
    }
    expect(answer.status).toBe(429);
    expect(answer.text).toMatch(/Try again in (?:1 second|(?:[2-9]|\d\d+) seconds)\./);
  });

  test("the address in an invitation cannot be replaced by another", async () => {
    const { api } = await service.newOrganization();
    const email = newEmail();
    const { link } = await invite(api, { roles: ["viewer"], email });
    expect((await visit(link)).text).not.toContain('name="newEmail"');
    await submit(link, newAccount(newEmail()));
    expect(await memberEmails(api)).toEqual([email]);
  });

  test("an existing account cannot be taken over by creating it again", async () => {
    const { api } = await service.newOrganization();
    const victim = await service.newUser();
    const { link } = await invite(api);
    const email = `${victim.userId}@EXAMPLE.org`;
    const answer = await submit(link, newAccount(email));
    expect(answer.status).toBe(400);
    expect(await memberEmails(api)).toEqual([]);
    expect(await submit(link, knownAccount(email))).toMatchObject({ status: 400 });
  });

  test.each([
    ["an invalid address", { newEmail: "nobody" }],
    ["no name", { displayName: " " }],
    ["a name with a change of text direction", { displayName: "a\u202eb" }],
    ["a name of 10,000 characters", { displayName: "x".repeat(10_000) }],
    ["a short password", { newPassword: "short" }],
    ["a very common password", { newPassword: "password1234" }],
    ["a password with NUL", { newPassword: `${goodPassword}\0` }],
  ])("%s is reported on the page and creates no account, and the invitation stays open", async (_name, changes) => {
    const { api } = await service.newOrganization();
    const { link } = await invite(api);
    const email = newEmail();
    const answer = await submit(link, newAccount(email, changes));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('role="alert"');
    expect(answer.text).not.toContain(goodPassword);
    expect(await findUserByEmail(service.running.database, email)).toBeUndefined();
    expect(await submit(link, newAccount(email))).toMatchObject({ status: 200 });
  });

  test("users' input and the organization's name are shown as plain text on the page", async () => {
    const owner = await service.newUser();
    const name = '<script>alert(1)</script>"><img src=x onerror=alert(2)>';
    const body = { name, displayName: name };
    const created = await owner.client.call<{ organizationId: string }>("CreateOrganization", { body });
    const api = owner.client.bind({ organizationId: created.body.organizationId });
    const { link } = await invite(api);
    const pages = [await visit(link), await submit(link, newAccount("x", { displayName: name, newEmail: name }))];
    for (const { text } of pages) expect(text).not.toMatch(/<script|<img/);
  });

  test("every link that does not work leads to the same page, whatever the reason", async () => {
    const { api } = await service.newOrganization();
    const revoked = await invite(api);
    await api.call("RevokeInvitation", { params: { invitationId: revoked.invitationId } });
    const links = [revoked.link, `${service.baseUrl}/invitations/x`, `${revoked.link}x`];
    const answers = [];
    for (const link of links) answers.push(await visit(link), await submit(link, newAccount(newEmail())));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test("if many people send the form at the same moment, exactly one joins, and the others have no account", async () => {
    const { api } = await service.newOrganization();
    const { link } = await invite(api);
    const emails = Array.from({ length: 6 }, newEmail);
    const answers = await Promise.all(emails.map((email) => submit(link, newAccount(email))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(409)]);
    const users = await Promise.all(emails.map((email) => findUserByEmail(service.running.database, email)));
    expect(users.filter((user) => user !== undefined).map(({ email }) => email)).toEqual(await memberEmails(api));
  });

  test("one address that joins two organizations at one instant becomes one account", async () => {
    const organizations = await Promise.all([service.newOrganization(), service.newOrganization()]);
    const links = await Promise.all(organizations.map(({ api }) => invite(api)));
    const email = newEmail();
    const answers = await Promise.all(links.map(({ link }) => submit(link, newAccount(email))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test("an invitation whose maker lost the permission creates no account", async () => {
    const organization = await service.newOrganization();
    const maker = await service.newMember(organization, ["owner"]);
    const { link } = await invite(maker.api, { roles: ["owner"] });
    await organization.api.call("RemoveMember", { params: { userId: maker.userId } });
    const email = newEmail();
    expect(await submit(link, newAccount(email))).toMatchObject({ status: 409 });
    expect(await findUserByEmail(service.running.database, email)).toBeUndefined();
  });

  test("a person who tries addresses through an invitation is slowed down, like a person who tries passwords", async () => {
    const { database, engine } = service.running;
    const { api } = await service.newOrganization();
    const { link } = await invite(api);
    const taken = `${(await service.newUser()).userId}@example.org`;
    const tryFrom = async (address: string, email: string) => {
      const headers = { "x-forwarded-for": address };
      return await fetch(link, { method: "POST", body: new URLSearchParams(newAccount(email)), headers });
    };
    const countOf = async (address: string) =>
      (await claimAttempt(database, [addressSubject(address)], engine.now()))?.[0]?.count;
    expect((await tryFrom("192.0.2.1", taken)).status).toBe(400);
    expect(await countOf("192.0.2.1")).toBe(2);
    for (let count = 1; count <= 100; count += 1) expect(await countOf("192.0.2.2")).toBe(count);
    const refused = await tryFrom("192.0.2.2", taken);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    expect((await tryFrom("192.0.2.3", newEmail())).status).toBe(200);
    expect(await countOf("192.0.2.3")).toBe(1);
  });
});
