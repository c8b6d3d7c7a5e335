import { generateKeyPairSync, randomUUID } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { Browser, type ShownPage } from "@stepwell/testing/browser.ts";
import { newOrganizationOfId, writeProviderFile } from "@stepwell/testing/identities/provider-file.ts";
import { linkTo } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { beginSignIn, discover, isArrival, signIn } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Script, ScriptedIssuer } from "./scripted-issuer.ts";

const seconds = (from: number) => Math.floor(Date.now() / 1_000) + from;
const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");

/** The issuer is broken or controlled by an attacker: it answers at once, slowly, or never, and with any content. */
onOneStore((home) => {
  const issuer = new ScriptedIssuer();
  const issuerOfRoles = new ScriptedIssuer();
  const organizationId = randomUUID();
  let service: TestService;

  beforeAll(async () => {
    await issuer.start();
    await issuerOfRoles.start();
    const entry = { id: "scripted", name: "Scripted", issuer: issuer.issuer, clientId: "us", organizationId };
    const file = writeProviderFile([
      { ...entry, emailDomains: ["scripted.test"], defaultRoles: ["viewer"] },
      {
        ...entry,
        id: "roles",
        name: "Roles",
        issuer: issuerOfRoles.issuer,
        emailDomains: ["roles.test"],
        roleClaim: "/realm/roles",
        roles: { staff: ["viewer"] },
      },
    ]);
    service = new TestService(home, { STEPWELL_SIGN_IN_PROVIDERS_FILE: file, STEPWELL_LOG_LEVEL: "silent" });
    await service.start();
    await newOrganizationOfId(service, organizationId);
  }, 60_000);
  afterAll(async () => {
    await service.stop();
    issuer.stop();
    issuerOfRoles.stop();
  });

  /** Goes to the issuer and back. Returns the page on which this ends. */
  async function signInThere(
    script: Script,
    at: ScriptedIssuer = issuer,
    providerId = "scripted",
  ): Promise<{ readonly page: ShownPage; readonly userId?: string | undefined }> {
    at.token = script;
    const browser = new Browser();
    const begun = await beginSignIn(await discover(service.baseUrl), service.baseUrl);
    const start = await browser.open(begun.url);
    const page = await browser.open(linkTo(start, providerId), isArrival);
    if (!isArrival(page.url)) return { page };
    return { page, userId: (await begun.finish(page.url)).claims()?.sub };
  }

  const withToken =
    (make: () => unknown): Script =>
    async (response) =>
      issuer.tokens(response, await make());
  const withClaims = (changes: () => Readonly<Record<string, unknown>>) => withToken(() => issuer.idToken(changes()));

  test("the unchanged answers for the tables below are accepted", async () => {
    const first = await signInThere(withClaims(() => ({})));
    expect(first.userId).toBeDefined();
    expect((await signInThere(withClaims(() => ({ exp: seconds(-20) })))).userId).toBe(first.userId);
  });

  const forged: readonly (readonly [string, Script])[] = [
    ["is not there", withToken(() => undefined)],
    ["is no token", withToken(() => "token")],
    ["is no text", withToken(() => ({ sub: "somebody" }))],
    ["is not signed", withToken(() => `${encoded({ alg: "none" })}.${encoded(issuer.claims())}.`)],
    [
      "is signed by somebody else",
      withToken(() => issuer.idToken({}, generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey)),
    ],
    ["is of another issuer", withClaims(() => ({ iss: "https://elsewhere.test" }))],
    ["is of no issuer", withClaims(() => ({ iss: undefined }))],
    ["is for another client", withClaims(() => ({ aud: "others" }))],
    ["is for nobody", withClaims(() => ({ aud: undefined }))],
    ["is for another client beside us", withClaims(() => ({ aud: ["us", "others"], azp: "others" }))],
    ["is for several clients and does not say for which", withClaims(() => ({ aud: ["us", "others"] }))],
    ["is past its time", withClaims(() => ({ exp: seconds(-31) }))],
    ["never ends", withClaims(() => ({ exp: undefined }))],
    ["was made in the future", withClaims(() => ({ iat: seconds(120) }))],
    ["has the nonce of an earlier sign-in", withClaims(() => ({ nonce: earlierNonce }))],
    ["has no nonce", withClaims(() => ({ nonce: undefined }))],
    ["has no subject", withClaims(() => ({ sub: undefined }))],
  ];
  let earlierNonce = "";

  test.for(forged)("an id token that %s gives no access, and the page says to begin again", async ([, script]) => {
    earlierNonce = issuer.nonce === "" ? "n" : issuer.nonce;
    const { page, userId } = await signInThere(script);
    expect([page.status, userId]).toEqual([403, undefined]);
    expect(page.text).toContain("does not belong to this sign-in. Sign in again.");
  });

  const broken: readonly (readonly [string, 403 | 503, Script])[] = [
    ["an error without a description", 403, (response) => void response.writeHead(400).end()],
    ["a page", 403, (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>")],
    ["half of a document", 403, (response) => void response.writeHead(200, json).end('{"access_token"')],
    ["a list", 403, (response) => issuer.json(response, [])],
    [
      "tokens of a kind that is not known",
      403,
      (response) => issuer.json(response, { access_token: "a", token_type: "x" }),
    ],
    ["a redirect", 403, (response) => void response.writeHead(302, { location: "/keys" }).end()],
    ["a server error", 503, (response) => void response.writeHead(500).end("oops")],
    ["nothing, and disconnects", 503, (response) => void response.destroy()],
    ["too long an answer", 503, (response) => void response.writeHead(200, json).end(Buffer.alloc(3 << 20, " "))],
  ];

  test.for(broken)(
    "an issuer that answers with %s gives no access, and the page says so",
    async ([, status, script]) => {
      const { page, userId } = await signInThere(script);
      expect([page.status, userId]).toEqual([status, undefined]);
      expect(page.text).toContain(status === 403 ? "does not belong to this sign-in" : "Scripted cannot be reached");
    },
  );

  inWholeMatrix(() => {
    test("the service gives up after seconds if an issuer's answer never comes or never ends", async () => {
      const startedAt = performance.now();
      let asked = 0;
      const script: Script = (response) => {
        asked += 1;
        if (asked > 1) response.writeHead(200, json).write("{");
      };
      const ends = await Promise.all([signInThere(script), signInThere(script)]);
      expect(ends.map(({ page }) => page.status)).toEqual([503, 503]);
      expect(asked).toBe(2);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
    });
  });

  test("userinfo of another subject is ignored", async () => {
    issuer.userInfo = (response) =>
      issuer.json(response, { sub: "other", email: "other@scripted.test", email_verified: true });
    const { page } = await signInThere(
      withClaims(() => ({ sub: "nameless", email: undefined, email_verified: undefined })),
    );
    expect(page.status).toBe(403);
  });

  test("the userinfo endpoint is asked only for claims that the id token does not have", async () => {
    let asked = 0;
    const email = "somebody@roles.test";
    const realm = { roles: ["staff"] };
    issuerOfRoles.userInfo = (response) => {
      asked += 1;
      issuerOfRoles.json(response, { sub: "somebody", realm });
    };
    const signInWith = async (claims: object) =>
      await signInThere(
        async (response) => issuerOfRoles.tokens(response, await issuerOfRoles.idToken({ email, ...claims })),
        issuerOfRoles,
        "roles",
      );
    const first = await signInWith({ realm });
    expect([first.userId, asked]).toEqual([expect.any(String), 0]);
    expect([(await signInWith({})).userId, asked]).toEqual([first.userId, 1]);
  });

  test("an e-mail address is accepted only if the answer that contains it also says that it is verified", async () => {
    issuer.userInfo = (response) => issuer.json(response, { sub: "mixed", email: "mixed@scripted.test" });
    const inToken = await signInThere(withClaims(() => ({ sub: "mixed", email: undefined, email_verified: true })));
    expect(inToken.page.text).toContain("does not say that your e-mail address is verified");
    issuer.userInfo = (response) =>
      issuer.json(response, { sub: "mixed", email: "mixed@scripted.test", email_verified: true });
    const there = await signInThere(withClaims(() => ({ sub: "mixed", email: undefined, email_verified: false })));
    expect(there.userId).toBeDefined();
  });

  test("invalid answers count against no user, and sign-ins by password still work", async () => {
    const { database } = service.running;
    expect(await ask(database, "SELECT 1 FROM sign_in_backoff")).toEqual([]);
    expect(await ask(database, "SELECT 1 FROM account_activity WHERE action = 'sign-in-refused'")).toEqual([]);
    issuer.token = () => {};
    const person = await newPerson(service);
    expect((await signIn(service.baseUrl, person)).tokens.claims()?.sub).toBe(person.userId);
    expect((await signInThere(withClaims(() => ({})))).userId).toBeDefined();
  });
});

const json = { "content-type": "application/json" };
