import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";
import { createServer } from "node:http";
import { newPerson, secrets } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { type SignedIn, signIn } from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { beforeAll, expect, test } from "vitest";
import { SigningKeys } from "../../../src/auth/oidc/signing-keys.ts";

type Part = Readonly<Record<string, unknown>>;

const stranger = generateKeyPairSync("rsa", { modulusLength: 2_048 });

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function decode(part: string | undefined): Part {
  return JSON.parse(Buffer.from(part ?? "", "base64url").toString("utf8"));
}

/** Attacks with id tokens that were forged, changed, or kept for too long. */
onOneStore((home) => {
  const service = useService(home);
  let person: SignedIn;
  let header: Part;
  let claims: Part;
  let ownKey: JsonWebKey;

  beforeAll(async () => {
    person = await signIn(service.baseUrl, await newPerson(service));
    const [first, second] = person.idToken.split(".");
    header = decode(first);
    claims = decode(second);
    const { database, engine } = service.running;
    const [key] = await new SigningKeys({ database, secrets, now: () => engine.now() }).published();
    if (key === undefined) throw new Error("There is no key.");
    ownKey = key;
  });

  /** Makes a token that is signed with the service's own key. */
  function signedByUs(changedClaims: Part = {}, changedHeader: Part = {}): string {
    const parts = { ...claims, ...changedClaims };
    const kept = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
    const text = `${encode({ ...header, ...changedHeader })}.${encode(kept)}`;
    const signature = sign("RSA-SHA256", Buffer.from(text), { key: ownKey as never, format: "jwk" });
    return `${text}.${signature.toString("base64url")}`;
  }

  function signedByStranger(changedHeader: Part = {}): string {
    const text = `${encode({ ...header, ...changedHeader })}.${encode(claims)}`;
    return `${text}.${sign("RSA-SHA256", Buffer.from(text), stranger.privateKey).toString("base64url")}`;
  }

  function macOf(text: string, key: string | Buffer): string {
    return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
  }

  async function statusOf(token: string): Promise<number> {
    const response = await fetch(`${service.baseUrl}/account`, { headers: { authorization: `Bearer ${token}` } });
    await response.body?.cancel();
    return response.status;
  }

  test("the unchanged request for the table below is accepted", async () => {
    expect(await statusOf(person.idToken)).toBe(200);
    expect(await statusOf(signedByUs())).toBe(200);
  });

  const publicPem = () => {
    const { n, e } = ownKey;
    return createPublicKey({ key: { kty: "RSA", n: n ?? "", e: e ?? "" }, format: "jwk" }).export({
      type: "spki",
      format: "pem",
    });
  };
  const parts = () => person.idToken.split(".");
  const now = () => Math.floor(service.running.engine.now() / 1_000);

  const attacks: readonly (readonly [string, () => string])[] = [
    ["alg none, without a signature", () => `${encode({ ...header, alg: "none" })}.${parts()[1]}.`],
    ["alg NONE, without a signature", () => `${encode({ ...header, alg: "NONE" })}.${parts()[1]}.`],
    ["alg none, with our signature", () => signedByUs({}, { alg: "none" })],
    ["no alg", () => signedByUs({}, { alg: undefined })],
    ["an empty signature", () => `${parts()[0]}.${parts()[1]}.`],
    ["no signature at all", () => `${parts()[0]}.${parts()[1]}`],
    [
      "HS256 with our public key as its secret",
      () => macOf(`${encode({ ...header, alg: "HS256" })}.${parts()[1]}`, publicPem()),
    ],
    ["HS256 with the empty secret", () => macOf(`${encode({ ...header, alg: "HS256" })}.${parts()[1]}`, "")],
    ["RS384", () => signedByUs({}, { alg: "RS384" })],
    ["PS256", () => signedByUs({}, { alg: "PS256" })],
    ["a kid that is a path", () => signedByUs({}, { kid: "../../../../dev/null" })],
    ["a kid that is SQL", () => signedByUs({}, { kid: "x' OR '1'='1" })],
    ["a kid with a NUL", () => signedByUs({}, { kid: "a\0b" })],
    ["an unknown kid", () => signedByStranger({ kid: "unknown" })],
    ["no kid", () => signedByUs({}, { kid: undefined })],
    ["a kid that is no text", () => signedByUs({}, { kid: ["x"] })],
    ["our kid and a stranger's signature", () => signedByStranger()],
    ["the stranger's key in the header", () => signedByStranger({ jwk: stranger.publicKey.export({ format: "jwk" }) })],
    ["our own signature with a jwk", () => signedByUs({}, { jwk: stranger.publicKey.export({ format: "jwk" }) })],
    ["a critical extension", () => signedByUs({}, { crit: ["b64"], b64: false })],
    ["past exp", () => signedByUs({ iat: now() - 4_000, exp: now() - 400 })],
    ["exp of this second", () => signedByUs({ iat: now() - 3_600, exp: now() })],
    ["no exp", () => signedByUs({ exp: undefined })],
    ["exp as text", () => signedByUs({ exp: String(now() + 60) })],
    ["exp of 1e20", () => signedByUs({ exp: 1e20 })],
    ["exp of a year", () => signedByUs({ exp: now() + 31_536_000 })],
    ["exp with a fraction", () => signedByUs({ exp: now() + 60.5 })],
    ["negative exp", () => signedByUs({ exp: -1 })],
    ["future nbf", () => signedByUs({ nbf: now() + 300 })],
    ["nbf as text", () => signedByUs({ nbf: "0" })],
    ["future iat", () => signedByUs({ iat: now() + 300, exp: now() + 600 })],
    ["no iat", () => signedByUs({ iat: undefined })],
    ["another issuer", () => signedByUs({ iss: "https://evil.example/oidc" })],
    ["the issuer with a slash", () => signedByUs({ iss: `${claims.iss}/` })],
    ["no issuer", () => signedByUs({ iss: undefined })],
    ["another audience", () => signedByUs({ aud: "another-client" })],
    ["a list of audiences", () => signedByUs({ aud: ["stepwell-dashboard", "another-client"] })],
    ["no audience", () => signedByUs({ aud: undefined })],
    ["an access token's type", () => signedByUs({}, { typ: "at+jwt" })],
    ["a logout token's type", () => signedByUs({}, { typ: "logout+jwt" })],
    ["the access token", () => person.tokens.access_token],
    ["the refresh token", () => person.refreshToken],
    ["no session", () => signedByUs({ sid: undefined })],
    ["another's session", () => signedByUs({ sid: crypto.randomUUID() })],
    ["another user", () => signedByUs({ sub: crypto.randomUUID() })],
    ["a user that is no id", () => signedByUs({ sub: "x'; DROP TABLE app_user; --" })],
    ["an edited payload", () => `${parts()[0]}.${encode({ ...claims, sub: crypto.randomUUID() })}.${parts()[2]}`],
    ["an edited header", () => `${encode({ ...header, x: 1 })}.${parts()[1]}.${parts()[2]}`],
    ["one more dot", () => `${person.idToken}.`],
    ["one more part", () => `${person.idToken}.e30`],
    ["padding", () => `${person.idToken}==`],
    ["another spelling of the signature", () => respelled(person.idToken)],
    ["a header that is no JSON", () => `${Buffer.from("{").toString("base64url")}.${parts()[1]}.${parts()[2]}`],
    ["a header that is a list", () => `${encode([])}.${parts()[1]}.${parts()[2]}`],
    ["a payload that is null", () => `${parts()[0]}.${encode(null)}.${parts()[2]}`],
    ["8 KB of text", () => signedByUs({ filler: "x".repeat(6_000) })],
  ];

  test.each(attacks)("%s is 401", async (_name, makeToken) => {
    expect(await statusOf(makeToken())).toBe(401);
  });

  test("no address in a header of a token is ever called", async () => {
    const asked: string[] = [];
    const trap = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end("{}");
    });
    await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
    const address = trap.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/keys`;
    for (const changed of [{ jku: url }, { x5u: url }, { jku: url, kid: url }, { iss: url, kid: "unknown" }]) {
      expect(await statusOf(signedByStranger(changed))).toBe(401);
      expect(await statusOf(signedByUs({}, changed))).toBe(401);
    }
    trap.close();
    expect(asked).toEqual([]);
  });

  test("a token of 100 KB is rejected at once, and the service continues to work", async () => {
    const startedAt = performance.now();
    expect(await statusOf(`${parts()[0]}.${"A".repeat(100_000)}.${parts()[2]}`)).toBe(431);
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000));
    expect(await statusOf(person.idToken)).toBe(200);
  });

  test("the token of a user who was disabled, or who left the organization, has no access there any more", async () => {
    const { database } = service.running;
    const { idToken, tokens } = await signIn(service.baseUrl, await newPerson(service));
    const organization = await service.newOrganization();
    const { organizationId } = organization;
    await service.addMember(organizationId, String(tokens.claims()?.sub), ["viewer"]);
    const client = service.client(idToken, { organizationId });
    await client.call("ListJobs");
    await organization.api.call("RemoveMember", { params: { userId: String(tokens.claims()?.sub) } });
    await client.refused("ListJobs", "NotFoundError");
    const text = "UPDATE app_user SET disabled_at = created_at WHERE user_id = $1";
    await database.query({ name: "disable", scope: "global", planned: "each-time", text }, [tokens.claims()?.sub]);
    await expect.poll(() => statusOf(idToken), { timeout: secondWithSlackMs, interval: 50 }).toBe(401);
  });
});

/** Changes the unused bits in the last character of the signature, so that the token is another text for the same bytes. */
function respelled(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(token.at(-1) ?? "");
  return token.slice(0, -1) + alphabet.charAt(last ^ 1);
}
