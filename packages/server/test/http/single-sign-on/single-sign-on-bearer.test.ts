import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, onTestFinished, test } from "vitest";
import { disableUser } from "../../../src/operator/accounts.ts";

const audience = "https://stepwell.acme.test";
const typed = { typ: "at+jwt" };

function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1_000) + fromNow;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** Makes an address of the attacker that counts the requests to it. */
async function trap(): Promise<{ readonly url: string; readonly count: () => number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, count: () => count };
}

onOneStore((home) => {
  const world = useSingleSignOn(home);
  let subjects = 0;

  function newClaims(changes: Record<string, unknown> = {}): Record<string, unknown> {
    subjects += 1;
    const sub = `bearer-${subjects}`;
    const person = {
      sub,
      email: `${sub}@acme.test`,
      email_verified: true,
      name: "A program's owner",
      groups: ["staff"],
    };
    return { ...person, aud: audience, iat: seconds(0), exp: seconds(300), ...changes };
  }

  function api(token: string) {
    return world.service.client(token, { organizationId: world.acmeOrganizationId });
  }

  async function signed(claims: Record<string, unknown>, header: object = typed): Promise<string> {
    return await world.acme.sign(claims, header);
  }

  test("an access token of a configured issuer belongs to the user, who becomes a member at its first use", async () => {
    const claims = newClaims();
    const caller = api(await signed(claims));
    const listed = await caller.call("ListWorkflows");
    const { body: me } = await caller.call("WhoAmI");
    expect(me).toMatchObject({ type: "user", email: claims.email, name: "A program's owner" });
    expect(await rowsOfRequest(listed, world.service)).toMatchObject([
      { action: "JoinBySingleSignOn", target_id: me.id, actor: { type: "service", id: "sso:acme" } },
    ]);
    await caller.refused("RegisterWorkflow", "AuthorizationError", { body: { name: "w" } });
  });

  test.for(["RS256", "ES256"])("an access token can be signed with %s, and can have the type JWT", async (alg) => {
    const kid = alg === "RS256" ? "rsa-1" : "ec-1";
    await api(await signed(newClaims(), { alg, kid, typ: "JWT" })).call("ListWorkflows");
    await api(await signed(newClaims({ aud: ["other", audience] }), { alg, kid, ...typed })).call("ListWorkflows");
  });

  test("the pages and the tokens of a provider lead to the same account", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login);
    const { body } = await api(await signed({ ...newClaims(), sub: login, email: undefined })).call("WhoAmI");
    expect(body.id).toBe(tokens?.claims()?.sub);
  });

  test("a token without roles removes none, and a token with other roles does", async () => {
    const claims = newClaims({ groups: ["builders"] });
    await api(await signed(claims)).call("RegisterWorkflow", { body: { name: String(claims.sub) } });
    const silent = await signed({ ...claims, groups: undefined, email: undefined });
    await api(silent).call("RegisterWorkflow", { body: { name: `${claims.sub} again` } });
    const lesser = await signed({ ...claims, groups: ["staff"] });
    await api(lesser).call("ListWorkflows");
    await api(lesser).refused("RegisterWorkflow", "AuthorizationError", { body: { name: "w" } });
  });

  const wrongClaims: readonly (readonly [string, Record<string, unknown>, object?])[] = [
    ["is for another audience", { aud: "https://other.acme.test" }],
    ["is for our client, as an id token is", { aud: "stepwell-at-acme" }],
    ["is for nobody", { aud: undefined }],
    ["is of an issuer that is not configured", { iss: "https://issuer.elsewhere.test" }],
    ["is of a provider whose tokens are not accepted", { iss: "globex" }],
    ["is past its time", { exp: seconds(-31) }],
    ["has no end", { exp: undefined }],
    ["has an expiry that is no number", { exp: "never" }],
    ["is not valid yet", { nbf: seconds(120) }],
    ["is made in the future", { iat: seconds(120) }],
    ["has an issue time that is no number", { iat: undefined }],
    ["has no subject", { sub: undefined }],
    ["has an empty subject", { sub: "" }],
    ["has a subject that is no text", { sub: 7 }],
    ["has a subject that cannot be stored", { sub: "a\0b" }],
    ["has the nonce of an id token", { nonce: "n" }],
    ["has the access token's hash, as an id token has", { at_hash: "h" }],
    ["is bound to a key", { cnf: { jkt: "x" } }],
    ["is a logout token", { events: { "http://schemas.openid.net/event/backchannel-logout": {} } }],
    ["is of another type", {}, { typ: "logout+jwt" }],
    ["is of no type", {}, {}],
  ];

  test.for(wrongClaims)("a token that %s gives no access", async ([, changes, header = typed]) => {
    const claims = newClaims(changes);
    if (claims.iss === "globex") claims.iss = world.globex.issuer;
    await api(await signed(claims, header)).refused("WhoAmI", "AuthenticationError");
  });

  const refused: readonly (readonly [string, Record<string, unknown>, string])[] = [
    [
      "of another domain",
      { email: "a@elsewhere.test" },
      "signs in only people whose e-mail address has one of certain domains",
    ],
    ["whose address is not verified", { email_verified: false }, "does not say that your e-mail address is verified"],
    ["without an address", { email: undefined }, "does not say that your e-mail address is verified"],
    ["without a role", { groups: [] }, "gives you no role"],
  ];

  test.for(refused)("a valid token of a new user %s is rejected, with the reason", async ([, changes, reason]) => {
    const answer = await api(await signed(newClaims(changes))).refused("WhoAmI", "AuthenticationError");
    expect(answer.body.detail).toContain(reason);
  });

  test("a disabled user's token is rejected within a second", async () => {
    const claims = newClaims();
    const token = await signed(claims);
    await api(token).call("WhoAmI");
    await disableUser(world.service.running.database, String(claims.email));
    await expect
      .poll(async () => (await api(token).callAny("WhoAmI", {})).status, { timeout: secondWithSlackMs })
      .toBe(401);
  });

  test("other keys, other algorithms, and keys that the token itself brings are not accepted for the issuer", async () => {
    const claims = { iss: world.acme.issuer, ...newClaims() };
    const own = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const jwk = own.publicKey.export({ format: "jwk" });
    const { url, count } = await trap();
    const forged = (header: object) => {
      const input = `${encoded(header)}.${encoded(claims)}`;
      return `${input}.${sign("RSA-SHA256", Buffer.from(input), own.privateKey).toString("base64url")}`;
    };
    const publicKey = createPublicKey({ key: world.acme.publicKey, format: "jwk" });
    const sharedSecrets = [
      publicKey.export({ format: "pem", type: "spki" }),
      publicKey.export({ format: "der", type: "spki" }),
      JSON.stringify(world.acme.publicKey),
    ];
    const hmacInput = `${encoded({ alg: "HS256", kid: "rsa-1", ...typed })}.${encoded(claims)}`;
    const good = await signed(claims);
    const [head = "", , signature = ""] = good.split(".");
    const attacks = [
      forged({ alg: "RS256", kid: "rsa-1", ...typed }),
      forged({ alg: "RS256", ...typed }),
      forged({ alg: "RS256", kid: "mine", jku: url, ...typed }),
      forged({ alg: "RS256", kid: "rsa-1", jku: url, x5u: url, ...typed }),
      forged({ alg: "RS256", jwk, ...typed }),
      forged({ alg: "RS256", kid: "ec-1", ...typed }),
      forged({ alg: "RS384", kid: "rsa-1", ...typed }),
      forged({ alg: "RS256", kid: "rsa-1", crit: ["anything"], anything: true, ...typed }),
      forged({ alg: "RS256", kid: "../../../etc/passwd", ...typed }),
      forged({ alg: "RS256", kid: "' OR 1=1 --", ...typed }),
      forged({ alg: "ES256", kid: "ec-1", ...typed }),
      ...["none", "None", "NONE", ""].map((alg) => `${encoded({ alg, ...typed })}.${encoded(claims)}.AA`),
      `${encoded({ alg: "none", ...typed })}.${encoded(claims)}.`,
      ...sharedSecrets.map(
        (secret) => `${hmacInput}.${createHmac("sha256", secret).update(hmacInput).digest("base64url")}`,
      ),
      `${head}.${encoded({ ...claims, sub: "somebody else" })}.${signature}`,
      `${head}.${good.split(".")[1]}.${"A".repeat(342)}`,
    ];
    for (const attack of attacks) await api(attack).refused("WhoAmI", "AuthenticationError");
    expect(count()).toBe(0);
    await api(good).call("WhoAmI");
  });

  test("the number of requests to the issuer does not grow with the number of tokens, valid or invalid", async () => {
    await api(await signed(newClaims())).call("WhoAmI");
    await world.acme.requests();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const header = { alg: "RS256", ...typed };
      await api(await signed(newClaims(), header)).callAny("WhoAmI", {});
      const input = `${encoded({ ...header, kid: `unknown-${attempt}` })}.${encoded({ iss: world.acme.issuer, ...newClaims() })}`;
      await api(`${input}.${"A".repeat(342)}`).refused("WhoAmI", "AuthenticationError");
    }
    expect((await world.acme.requests()).length).toBeLessThanOrEqual(1);
  });

  test("text that only looks like a token of the issuer is rejected", async () => {
    const iss = encoded({ iss: world.acme.issuer });
    for (const text of [`a.${iss}.c`, `.${iss}.`, `a.${iss}.c.d.e`, `${iss}.${iss}.${iss}`, `a.${encoded([1])}.c`]) {
      await api(text).refused("WhoAmI", "AuthenticationError");
    }
  });
});
