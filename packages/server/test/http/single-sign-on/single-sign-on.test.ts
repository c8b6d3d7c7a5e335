import { ask, rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import { Browser } from "@stepwell/testing/browser.ts";
import { linkTo, useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { newPerson, rightPassword } from "@stepwell/testing/people.ts";
import { citusUrl } from "@stepwell/testing/postgres/citus-server.ts";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import type { TestOrganization } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival, type Tokens } from "@stepwell/testing/sign-in.ts";
import { onOneStore, type StoreHome } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";
import { issueSignInLink, signInLinkUrl } from "../../../src/auth/passwords/sign-in-link.ts";
import { disableUser, enableUser } from "../../../src/operator/accounts.ts";
import { findMember } from "../../../src/store/access/members.ts";

onOneStore((home) => {
  const world = useSingleSignOn(home);

  function clientOf(tokens: Tokens | undefined) {
    if (tokens === undefined) throw new Error("Nobody is signed in.");
    return world.service.client(tokens.id_token);
  }

  function acme(tokens: Tokens | undefined) {
    return clientOf(tokens).bind({ organizationId: world.acmeOrganizationId });
  }

  async function rolesOf(
    tokens: Tokens | undefined,
    organizationId = world.acmeOrganizationId,
  ): Promise<readonly string[]> {
    const userId = tokens?.claims()?.sub ?? "";
    const member = await findMember(world.service.running.database, organizationId, userId);
    return [...(member?.roles ?? [])].sort();
  }

  test("a person who continues with a provider is signed in, and is a member with the roles of the claim", async () => {
    const { login, email } = await world.newPersonAt("acme", { groups: ["staff", "unheard of"], name: "Ada" });
    const { tokens } = await world.signIn("acme", login);
    const { body: account } = await clientOf(tokens).call("GetAccount");
    expect(account).toMatchObject({ email, displayName: "Ada", hasPassword: false, userId: tokens?.claims()?.sub });
    expect(await rolesOf(tokens)).toEqual(["viewer"]);
    await acme(tokens).call("ListWorkflows");
    await acme(tokens).refused("RegisterWorkflow", "AuthorizationError", { body: { name: "w" } });
    const { body } = await clientOf(tokens).call<{ sessions: object[] }>("ListSessions");
    expect(body.sessions).toMatchObject([{ signedInBy: "sso:acme", isCurrent: true }]);
    const joined = await rowsOfAction(world.service, world.acmeOrganizationId, "JoinBySingleSignOn");
    expect(joined.find(({ target_id: id }) => id === tokens?.claims()?.sub)).toMatchObject({
      actor: { type: "service", id: "sso:acme", name: "Acme" },
      target_type: "member",
      details: { roles: ["viewer"] },
    });
  });

  test("a second sign-in leads to the same account, even if the address has changed", async () => {
    const { login, email } = await world.newPersonAt("acme");
    const first = await world.signIn("acme", login);
    await world.acme.setAccount(login, { email: `new.${email}`, email_verified: true, groups: ["staff"] });
    const second = await world.signIn("acme", login);
    expect(second.tokens?.claims()?.sub).toBe(first.tokens?.claims()?.sub);
  });

  test("a known user whose address now has another domain is rejected", async () => {
    const { login } = await world.newPersonAt("acme");
    await world.signIn("acme", login);
    await world.acme.setAccount(login, { email: "a@elsewhere.test", email_verified: true, groups: ["staff"] });
    expect((await world.signIn("acme", login)).page.text).toContain(
      "signs in only people whose e-mail address has one of certain domains",
    );
  });

  test("the address and the groups come from the userinfo endpoint if the id token has none", async () => {
    const { login, email } = await world.newPersonAt("globex");
    const { tokens } = await world.signIn("globex", login);
    expect((await clientOf(tokens).call("GetAccount")).body).toMatchObject({ email });
    expect(await rolesOf(tokens, world.globexOrganizationId)).toEqual(["viewer"]);
  });

  test("a role comes and goes with the claim, and roles from other sources stay", async () => {
    const { login } = await world.newPersonAt("acme", { groups: ["builders"] });
    const { tokens } = await world.signIn("acme", login);
    // The mapping also gives "releaser" to builders, but the organization has no such role.
    expect(await rolesOf(tokens)).toEqual(["developer"]);
    await acme(tokens).call("RegisterWorkflow", { body: { name: login } });
    const owner = await world.newOwner();
    const userId = tokens?.claims()?.sub ?? "";
    await owner.api.call("UpdateMember", { params: { userId }, body: { roles: ["developer", "ci"] } });
    await world.acme.setAccount(login, { email: `${login}@acme.test`, email_verified: true, groups: "staff other" });
    await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["ci", "viewer"]);
    const changes = await rowsOfAction(world.service, world.acmeOrganizationId, "UpdateMember");
    expect(
      changes.filter(({ target_id: id }) => id === userId).map(({ actor, details }) => [actor.type, details]),
    ).toEqual([
      ["user", { roles: { from: ["developer"], to: ["developer", "ci"] } }],
      ["service", { roles: { from: ["developer", "ci"], to: ["ci", "viewer"] } }],
    ]);
  });

  test("an organization's own role can be given too, under its new name if it was renamed after the mapping was written", async () => {
    const { api } = await world.newOwner();
    await api.call("CreateRole", { body: { name: "releaser", permissions: ["workflow:read"] } });
    const { login, email } = await world.newPersonAt("acme", { groups: ["builders"] });
    const { tokens } = await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["developer", "releaser"]);

    await api.call("UpdateRole", { params: { role: "releaser" }, body: { name: "publisher" } });
    expect(await rolesOf(tokens)).toEqual(["developer", "publisher"]);
    await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["developer", "publisher"]);
    const newcomer = await world.newPersonAt("acme", { groups: ["builders"] });
    expect(await rolesOf((await world.signIn("acme", newcomer.login)).tokens)).toEqual(["developer", "publisher"]);

    await world.acme.setAccount(login, { email, email_verified: true, groups: ["staff"] });
    await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["viewer"]);
  });

  test("a user who is in no group any more loses the membership and is rejected", async () => {
    const { login, email } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login);
    await acme(tokens).call("ListWorkflows");
    await world.acme.setAccount(login, { email, email_verified: true });
    const again = await world.signIn("acme", login);
    expect([again.page.status, again.tokens]).toEqual([403, undefined]);
    expect(again.page.text).toContain("Acme gives you no role");
    await acme(tokens).refused("ListWorkflows", "NotFoundError");
  });

  test("the last owner stays owner, although the claim no longer gives the role", async () => {
    const { database } = world.service.running;
    const { login, email } = await world.newPersonAt("acme", { groups: ["bosses"] });
    const { tokens } = await world.signIn("acme", login);
    const others = "UPDATE member SET roles = '{viewer}' WHERE organization_id = $1 AND user_id <> $2";
    await ask(database, others, world.acmeOrganizationId, tokens?.claims()?.sub);
    await world.acme.setAccount(login, { email, email_verified: true, groups: ["staff"] });
    await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["owner", "viewer"]);
    await world.newOwner();
    await world.signIn("acme", login);
    expect(await rolesOf(tokens)).toEqual(["viewer"]);
  });

  const refusals: readonly (readonly [string, Record<string, unknown>, string])[] = [
    [
      "an address of another domain",
      { email: "eve@elsewhere.test" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    [
      "a domain with the same ending",
      { email: "eve@not-acme.test" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    [
      "a domain below ours",
      { email: "eve@sub.acme.test" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    [
      "two domains in one address",
      { email: "eve@elsewhere.test@acme.test" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    [
      "a letter that is a k in lower case",
      { email: "eve@acme.test\u212a" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    ["an address that is not verified", { email_verified: false }, "does not say that your e-mail address is verified"],
    ["an address whose verification is a text", { email_verified: "true" }, "does not say that your e-mail address"],
    [
      "an address without a word about its verification",
      { email_verified: undefined },
      "does not say that your e-mail address",
    ],
    ["no address", { email: undefined }, "does not say that your e-mail address"],
    ["no group that gives a role", { groups: ["visitors"] }, "gives you no role"],
    ["groups of the wrong kind", { groups: { staff: true } }, "gives you no role"],
  ];

  test.for(refusals)("a sign-in with %s is rejected, and leaves no account behind", async ([, claims, reason]) => {
    const { login, email } = await world.newPersonAt("acme", claims);
    const { page, tokens } = await world.signIn("acme", login);
    expect([page.status, tokens]).toEqual([403, undefined]);
    expect(page.text).toContain(reason);
    const { database } = world.service.running;
    expect(await ask(database, "SELECT 1 FROM external_identity WHERE subject = $1", login)).toEqual([]);
    expect(await ask(database, "SELECT 1 FROM app_user WHERE email IN ($1, $2)", email, String(claims.email))).toEqual(
      [],
    );
  });

  test("a provider is trusted for its own domains alone, and gives roles in its own organization alone", async () => {
    const { login } = await world.newPersonAt("globex", { email: "somebody@acme.test" });
    expect((await world.signIn("globex", login)).page.text).toContain(
      "signs in only people whose e-mail address has one of certain domains",
    );
    const person = await world.newPersonAt("globex", { groups: ["bosses"] });
    const { tokens } = await world.signIn("globex", person.login);
    await acme(tokens).refused("ListWorkflows", "NotFoundError");
    await clientOf(tokens).call("ListWorkflows", { params: { organizationId: world.globexOrganizationId } });
  });

  test("the first sign-in takes over the account with that address, and ends its former credentials", async () => {
    const { database } = world.service.running;
    const { login, email } = await world.newPersonAt("acme");
    const session = await world.signInWithPassword(await newPerson(world.service));
    const userId = session.claims()?.sub ?? "";
    const { body } = await clientOf(session).call<{ token: string }>("CreateUserToken", {
      body: { name: "mine", password: rightPassword },
    });
    await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", email.toUpperCase(), userId);
    const { tokens } = await world.signIn("acme", login);
    expect(tokens?.claims()?.sub).toBe(userId);
    const account = await clientOf(tokens).call("GetAccount");
    expect(account.body).toMatchObject({ hasPassword: false, displayName: "A person" });
    await clientOf(session).refused("GetAccount", "AuthenticationError");
    await world.service.client(body.token).refused("GetAccount", "AuthenticationError");
    const activity = await clientOf(tokens).call<{ activity: { action: string }[] }>("ListAccountActivity");
    expect(JSON.stringify(activity.body)).toContain("identity-linked");
  });

  test("a person who gets another person's former address at the provider does not get their account", async () => {
    const { login, email } = await world.newPersonAt("acme");
    await world.signIn("acme", login);
    const heir = await world.newPersonAt("acme", { email });
    const { page } = await world.signIn("acme", heir.login);
    expect([page.status, page.text.includes("belongs to another person")]).toEqual([403, true]);
  });

  test("a disabled user is rejected, whether the provider's account is known or not", async () => {
    const { login, email } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login);
    const { database } = world.service.running;
    await disableUser(database, email);
    expect((await world.signIn("acme", login)).page.text).toContain("Your account is disabled");
    await enableUser(database, email);
    expect((await world.signIn("acme", login)).tokens?.claims()?.sub).toBe(tokens?.claims()?.sub);
    const other = await world.newPersonAt("acme");
    const unlinked = await newPerson(world.service);
    await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", other.email, unlinked.userId);
    await disableUser(database, other.email);
    expect((await world.signIn("acme", other.login)).page.text).toContain("Your account is disabled");
  });

  test("an e-mail address of a provider's domain leads to that provider, and no password is asked for", async () => {
    const { login, email } = await world.newPersonAt("acme");
    for (const typed of [email, ` ${email.toUpperCase()}`]) {
      const { browser, begun, page } = await world.begin();
      expect(page.text).not.toContain('type="password"');
      const onTheWay = await browser.submit(page, { email: typed });
      expect(onTheWay.text).toMatch(/http-equiv="refresh" content="0; url=[^"]+\/with\/acme\?login_hint=/);
      const there = await browser.open(linkTo(onTheWay, "acme"));
      expect(there.text).toContain(`value="${typed.trim()}"`);
      const end = await browser.submit(there, { login }, isArrival);
      await begun.finish(end.url);
    }
  });

  test("a password is not accepted for an address of a provider's domain, not even in the second step", async () => {
    const { database } = world.service.running;
    const person = await newPerson(world.service);
    const email = `${person.userId}@acme.test`;
    await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", email, person.userId);
    const { browser, page } = await world.begin();
    const second = await browser.submit(page, { email: "somebody@example.org" });
    const end = await browser.submit(second, { email, password: rightPassword }, isArrival);
    expect([end.status, isArrival(end.url)]).toEqual([200, false]);
    expect(end.text).toContain("With your e-mail address, you sign in with Acme");
  });

  test.each([
    ["every address", false],
    ["this address", true],
  ])(
    "a person whose address has a provider cannot join with a password by an invitation for %s",
    async (_, isFixed) => {
      const { database } = world.service.running;
      const leaver = await newPerson(world.service);
      const email = `${leaver.userId}@acme.test`;
      await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", email, leaver.userId);
      const stranger = await world.service.newOrganization();
      const { link, invitationId, code } = await invitationOf(stranger, isFixed ? { email } : {});
      const shown = await (await fetch(link)).text();
      expect(shown.includes("you sign in with Acme")).toBe(isFixed);
      const known = await join(link, { account: "known", email: ` ${email.toUpperCase()}`, password: rightPassword });
      expect(known).toMatchObject(refusedAtAcme);
      expect(known.text).toContain(code);
      // The answer does not say whether the password is right.
      expect(await join(link, { account: "known", email: ` ${email.toUpperCase()}`, password: "wrong" })).toEqual(
        known,
      );
      const newEmail = isFixed ? email : `another.${email}`;
      const asNew = { account: "new", newEmail, displayName: "Eve", newPassword: rightPassword };
      expect(await join(link, asNew)).toMatchObject(refusedAtAcme);
      expect(await ask(database, "SELECT 1 FROM user_session WHERE user_id = $1", leaver.userId)).toEqual([]);
      expect(await ask(database, "SELECT 1 FROM app_user WHERE email = $1", `another.${email}`)).toEqual([]);
      expect(await findMember(database, stranger.organizationId, leaver.userId)).toBeUndefined();
      const { body: invitation } = await stranger.api.call("GetInvitation", { params: { invitationId } });
      expect(invitation).toMatchObject({ status: "open" });
    },
  );

  test("once a person's address has a provider, joining with a password does not sign the person in, but a link of the service does", async () => {
    const { database, engine } = world.service.running;
    const { userId, email } = await newPerson(world.service);
    const { link } = await invitationOf(await world.service.newOrganization());
    const browser = new Browser();
    const headers = { "sec-fetch-site": "same-origin" };
    const fields = { email, password: rightPassword };
    await browser.submit(await browser.open(link), fields, () => false, headers);
    expect(browser.cookieNames()).toContain("stepwell-link");
    await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", `${userId}@acme.test`, userId);
    const { page } = await world.begin(browser);
    expect([page.status, page.text.includes("Continue with Acme")]).toEqual([200, true]);
    expect(await ask(database, "SELECT 1 FROM user_session WHERE user_id = $1", userId)).toEqual([]);

    const ofService = signInLinkUrl(world.service.baseUrl, await issueSignInLink(database, userId, engine.now()));
    await browser.open(ofService, isArrival);
    const begun = await beginSignIn(await discover(world.service.baseUrl), world.service.baseUrl);
    const { url } = await browser.open(begun.url, isArrival);
    expect((await begun.finish(url)).claims()?.sub).toBe(userId);
  });

  test("a link sets a password for an address of a provider's domain, and nobody signs in with it", async () => {
    const { database } = world.service.running;
    const { login, email } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login);
    const params = { userId: tokens?.claims()?.sub ?? "" };
    const { body } = await (await world.newOwner()).api.call<{ link: string }>("CreatePasswordLink", { params });
    const browser = new Browser();
    const set = await browser.submit(await browser.open(body.link), {
      password: rightPassword,
      repeated: rightPassword,
    });
    expect(set.status).toBe(200);
    expect(set.text).toContain("You still sign in with Acme.");
    const end = await browser.submit((await world.begin(browser)).page, { email });
    expect(end.text).toContain("With your e-mail address, you sign in with Acme");
    const { link } = await invitationOf(await world.service.newOrganization());
    expect(await join(link, { account: "known", email, password: rightPassword })).toMatchObject(refusedAtAcme);
    const open = "SELECT 1 FROM user_session WHERE user_id = $1 AND ended_at IS NULL";
    expect(await ask(database, open, params.userId)).toEqual([]);
    const again = await world.signIn("acme", login);
    expect((await clientOf(again.tokens).call("GetAccount")).body).toMatchObject({ hasPassword: true });
  });

  test("a person who signed in at the provider accepts an invitation with its code", async () => {
    const { login, email } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login);
    const organization = await world.service.newOrganization();
    const { code } = await invitationOf(organization, { email });
    await clientOf(tokens).call("AcceptInvitation", { body: { invitation: code } });
    expect(await rolesOf(tokens, organization.organizationId)).toEqual(["viewer"]);
  });

  test("a user with another address is asked for the password in a second step", async () => {
    const person = await newPerson(world.service);
    expect((await world.signInWithPassword(person)).claims()?.sub).toBe(person.userId);
  });

  test("two simultaneous first sign-ins of one person create one account", async () => {
    // Chance decides how far one sign-in is when the other commits. So several pairs of sign-ins are tried.
    for (let couple = 0; couple < 5; couple += 1) {
      const { login } = await world.newPersonAt("acme");
      const both = await Promise.all([world.signIn("acme", login), world.signIn("acme", login)]);
      const [one, other] = both.map(({ tokens }) => tokens?.claims()?.sub);
      expect(one).toBeDefined();
      expect(other).toBe(one);
    }
  });

  test("if two people sign in with one address at the same moment, one gets the account of that address", async () => {
    const { database } = world.service.running;
    for (let couple = 0; couple < 5; couple += 1) {
      const { login, email } = await world.newPersonAt("acme");
      const other = await world.newPersonAt("acme", { email });
      const { userId } = await newPerson(world.service);
      await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", email, userId);
      const both = await Promise.all([world.signIn("acme", login), world.signIn("acme", other.login)]);
      const subjects = both.flatMap(({ tokens }) => tokens?.claims()?.sub ?? []);
      expect(subjects).toEqual([userId]);
    }
  });
});

/** The answer of an invitation's page to a form that has a password for an address of Acme. */
const refusedAtAcme = {
  status: 400,
  cookie: null,
  text: expect.stringMatching(
    /role="alert">With this e-mail address, you sign in with Acme, and no password is accepted\./,
  ),
};

async function invitationOf({ api }: Pick<TestOrganization, "api">, more: { readonly email?: string } = {}) {
  const body = { roles: ["viewer"], ...more };
  return (await api.call<{ invitationId: string; link: string; code: string }>("CreateInvitation", { body })).body;
}

async function join(link: string, fields: Record<string, string>) {
  const headers = { "sec-fetch-site": "same-origin" };
  const response = await fetch(link, { method: "POST", body: new URLSearchParams(fields), headers });
  return { status: response.status, cookie: response.headers.get("set-cookie"), text: await response.text() };
}

/** A store whose locale knows the lower case of letters outside of ASCII, as on most servers. */
const unicodeHome: StoreHome = {
  name: "postgres",
  async prepare() {
    const { url, remove } = await newDatabase("empty, in Unicode");
    return { environment: { DATABASE_URL: url }, remove };
  },
};

describe.skipIf(citusUrl !== undefined)("on a store in Unicode", () => {
  const world = useSingleSignOn(unicodeHome);

  test("a letter that is a k in lower case does not hide that an address has a provider", async () => {
    const { database } = world.service.running;
    const { userId } = await newPerson(world.service);
    const email = `kim-${userId}@acme.test`;
    await ask(database, "UPDATE app_user SET email = $1 WHERE user_id = $2", email, userId);
    const typed = email.replace("k", "\u212a");
    expect(await ask(database, "SELECT email FROM app_user WHERE lower(email) = lower($1)", typed)).toEqual([
      { email },
    ]);
    const { browser, page } = await world.begin();
    const second = await browser.submit(page, { email: typed });
    const end = await browser.submit(second, { email: typed, password: rightPassword }, isArrival);
    expect([end.status, isArrival(end.url)]).toEqual([200, false]);
    expect(end.text).toContain("With your e-mail address, you sign in with Acme");
    const { link } = await invitationOf(await world.service.newOrganization());
    expect(await join(link, { account: "known", email: typed, password: rightPassword })).toMatchObject(refusedAtAcme);
    expect(await ask(database, "SELECT 1 FROM user_session WHERE user_id = $1", userId)).toEqual([]);
  });
});
