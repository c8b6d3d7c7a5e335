import { randomUUID } from "node:crypto";
import { Browser } from "@stepwell/testing/browser.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { attemptOf, newPerson, newSignedInPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival, type SignedIn, signIn, typePassword } from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import * as openid from "openid-client";
import { expect, test } from "vitest";
import { makePasswordLink, replacePassword } from "../../../src/operator/accounts.ts";
import { initializeOwner } from "../../../src/operator/initial-owner.ts";

const newPassword = "another password, and longer";

onOneStore((home) => {
  const service = useService(home);

  async function statusOf(token: string): Promise<number> {
    return (await service.client(token).callAny("GetAccount", {})).status;
  }

  async function newUserToken(client: Client): Promise<string> {
    return (
      await client.call<{ token: string }>("CreateUserToken", { body: { name: "a token", password: rightPassword } })
    ).body.token;
  }

  async function setByLink(secret: string): Promise<string> {
    const form = new URLSearchParams({ link: secret, password: newPassword, repeated: newPassword });
    const answer = await fetch(`${service.baseUrl}/set-password`, { method: "POST", body: form });
    expect(answer.status).toBe(200);
    return await answer.text();
  }

  /**
   * Checks that the session, its refresh token, the browser's cookies and the user tokens have ended. A signed-in person has nothing else that could
   * stay valid.
   */
  async function expectEnded({ browser, idToken, refreshToken, tokens }: SignedIn, userTokens: readonly string[]) {
    const configuration = await discover(service.baseUrl);
    for (const token of [idToken, ...userTokens]) {
      expect(await statusOf(token)).toBe(401);
      await service
        .client(token)
        .refused("CreateUserToken", "AuthenticationError", { body: { name: "more", password: rightPassword } });
    }
    await expect(openid.refreshTokenGrant(configuration, refreshToken)).rejects.toMatchObject({
      error: "invalid_grant",
    });
    await expect(openid.fetchUserInfo(configuration, tokens.access_token, openid.skipSubjectCheck)).rejects.toThrow();
    const again = await beginSignIn(configuration, service.baseUrl);
    expect((await browser.open(again.url, isArrival)).text).toContain('name="password"');
  }

  test("a person who created an account with another person's address loses the account when the owner of the address sets a password by a link", async () => {
    const attacker = await service.newOrganization();
    const email = `victim-${randomUUID()}@example.org`;
    const { body: invitation } = await attacker.api.call<{ link: string }>("CreateInvitation", {
      body: { roles: ["viewer"] },
    });
    const account = { account: "new", newEmail: email, displayName: "V", newPassword: rightPassword };
    expect((await fetch(invitation.link, { method: "POST", body: new URLSearchParams(account) })).status).toBe(200);
    const theirs = await signIn(service.baseUrl, { email });
    const first = await newUserToken(service.client(theirs.idToken));
    const second = await newUserToken(service.client(first));
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);

    // The owner of the address sees that the address is already in use, and asks the operator for a link.
    const link = await makePasswordLink(service.running.database, email, { removesSecondFactor: false });
    const page = await setByLink(link?.secret ?? "");

    expect(page).toContain("All sessions of your account have ended");
    await expectEnded(theirs, [first, second]);
    const owner = await signInAt(service, () => service.running.engine.now()).attempt(
      attemptOf({ email }, { password: newPassword }),
    );
    expect(owner).toMatchObject({ outcome: "accepted" });
  });

  test("a link by an owner of the organization ends all user tokens and sessions, and the activity says how many", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["developer"]);
    const another = await service.newUserToken(member.userId);
    const params = { userId: member.userId };
    const { body } = await organization.api.call<{ link: string }>("CreatePasswordLink", { params });
    await setByLink(new URL(body.link).searchParams.get("link") ?? "");
    expect([await statusOf(member.token), await statusOf(another.token)]).toEqual([401, 401]);
    const { idToken } = await signIn(
      service.baseUrl,
      { email: `${member.userId}@example.org` },
      undefined,
      newPassword,
    );
    const { body: told } = await service
      .client(idToken)
      .call<{ activities: { action: string; details: object }[] }>("ListAccountActivity");
    const set = told.activities.find(({ action }) => action === "password-set-by-link");
    expect(set?.details).toEqual({ revokedUserTokens: "2" });
  });

  test("a change of the password ends the other sessions and user tokens, but not the session that made the change", async () => {
    const person = await newPerson(service);
    const here = await signIn(service.baseUrl, person);
    const there = await signIn(service.baseUrl, person);
    const token = await newUserToken(service.client(there.idToken));
    const body = { currentPassword: rightPassword, newPassword };
    await service.client(here.idToken).call("ChangePassword", { body, status: 204 });
    await expectEnded(there, [token]);
    expect(await statusOf(here.idToken)).toBe(200);

    const ofToken = await newSignedInPerson(service);
    const other = await newUserToken(ofToken.client);
    await ofToken.client.call("ChangePassword", { body, status: 204 });
    expect([await statusOf(ofToken.token), await statusOf(other)]).toEqual([200, 401]);
  });

  test("a change of the password keeps the user tokens if the user chooses that", async () => {
    const person = await newSignedInPerson(service);
    const other = await newUserToken(person.client);
    const body = { currentPassword: rightPassword, newPassword, keepUserTokens: true };
    await person.client.call("ChangePassword", { body, status: 204 });
    expect([await statusOf(person.token), await statusOf(other)]).toEqual([200, 200]);
  });

  test("a password that the operator sets ends the user tokens too", async () => {
    const person = await newSignedInPerson(service);
    await replacePassword(service.running.database, person.email, newPassword);
    await expect.poll(() => statusOf(person.token), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  });

  /**
   * Guesses at a password from many places until the account is blocked everywhere. A block lasts only a second. But the clock of these guesses is a
   * minute ahead, so for the service the block ends a minute later, after the test.
   */
  async function guessAt(email: string): Promise<void> {
    const guesser = signInAt(service, () => service.running.engine.now() + 60_000);
    const guess = () => guesser.attempt(attemptOf({ email }, { password: "not the password" }));
    for (let count = 0; count < 8; count += 1) await guess();
    expect(await guess()).toMatchObject({ outcome: "blocked" });
  }

  test("the browser in which the password was changed stays known to the sign-in, also after a second change, and no other browser does", async () => {
    const person = await newPerson(service);
    const here = await signIn(service.baseUrl, person);
    const there = await signIn(service.baseUrl, person);
    const passwords = [rightPassword, newPassword, "a third password, why not"];
    for (const [count, currentPassword] of passwords.slice(0, 2).entries()) {
      const body = { currentPassword, newPassword: passwords[count + 1] };
      await service.client(here.idToken).call("ChangePassword", { body, status: 204 });
    }
    await guessAt(person.email);
    const signInFrom = async ({ browser }: SignedIn) => {
      const begun = await beginSignIn(await discover(service.baseUrl), service.baseUrl, { prompt: "login" });
      const page = await browser.open(begun.url, isArrival);
      return await typePassword(browser, page, person, passwords[2]);
    };
    expect((await signInFrom(there)).status).toBe(429);
    const arrival = await signInFrom(here);
    expect(isArrival(arrival.url)).toBe(true);
  });

  test("the browser in which a password was set by a link is known to the sign-in, and earlier browsers are not", async () => {
    const person = await newPerson(service);
    const before = await signIn(service.baseUrl, person);
    const link = await makePasswordLink(service.running.database, person.email, { removesSecondFactor: false });
    const browser = new Browser();
    const form = await browser.open(`${service.baseUrl}/set-password?link=${link?.secret}`);
    await browser.submit(form, { password: newPassword, repeated: newPassword });
    await guessAt(person.email);
    await expect(signIn(service.baseUrl, person, before.browser, newPassword)).rejects.toThrow();
    await signIn(service.baseUrl, person, browser, newPassword);
  });

  test("a token that is created while the password is set by a link is rejected or ended", async () => {
    const person = await newSignedInPerson(service);
    const link = await makePasswordLink(service.running.database, person.email, { removesSecondFactor: false });
    const minting = Array.from({ length: 20 }, () =>
      person.client.callAny<{ token?: string }>("CreateUserToken", {
        body: { name: "quick", password: rightPassword },
      }),
    );
    const [answers] = await Promise.all([Promise.all(minting), setByLink(link?.secret ?? "")]);
    const made = answers.flatMap(({ body }) => body.token ?? []);
    for (const token of [person.token, ...made]) expect(await statusOf(token)).toBe(401);
  });
});

onOneStore((home) => {
  const service = useService(home);

  test("the token that the first start printed together with the link stays, and every other one ends", async () => {
    const { database } = service.running;
    const email = "first@example.org";
    const owner = await initializeOwner(database, { email, displayName: "First", organizationName: "first" });
    const api = service.client(owner?.token);
    const { body: account } = await api.call<{ userId: string }>("GetAccount");
    const another = await service.newUserToken(account.userId);
    const secret = owner?.passwordLink?.secret ?? "";
    const form = new URLSearchParams({ link: secret, password: newPassword, repeated: newPassword });
    expect((await fetch(`${service.baseUrl}/set-password`, { method: "POST", body: form })).status).toBe(200);
    await api.call("GetAccount");
    await service.client(another.token).refused("GetAccount", "AuthenticationError");

    const later = await makePasswordLink(database, email, { removesSecondFactor: false });
    const again = new URLSearchParams({ link: later?.secret ?? "", password: rightPassword, repeated: rightPassword });
    expect((await fetch(`${service.baseUrl}/set-password`, { method: "POST", body: again })).status).toBe(200);
    await api.refused("GetAccount", "AuthenticationError");
  });
});
