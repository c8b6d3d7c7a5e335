import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { ExternalIssuer, type IssuerTimes } from "../../src/auth/external/issuer.ts";
import { parseProviders } from "../../src/auth/external/provider-file.ts";
import { verifySigned } from "../../src/auth/external/signed-token.ts";

const impatient: IssuerTimes = {
  maxAgeMs: 60_000,
  maxStaleMs: 120_000,
  failurePauseMs: 0,
  keyCooldownMs: 0,
  maxKeyAgeMs: 60_000,
  timeoutSeconds: 30,
};

/** An issuer that publishes a description and keys, and that can be stopped. */
class Published {
  isDown = false;
  keys: object[] = [];
  /** The answer in place of the keys. */
  answerForKeys: { readonly status: number; readonly body: string } | undefined;
  asked: string[] = [];
  changes: Record<string, unknown> = {};
  #address = "";

  static async start(): Promise<Published> {
    const published = new Published();
    const server = createServer((request, response) => {
      published.asked.push(request.url ?? "");
      if (published.isDown) return void request.socket.destroy();
      response.setHeader("content-type", "application/json");
      const { answerForKeys } = published;
      if (request.url === "/keys" && answerForKeys !== undefined)
        return void response.writeHead(answerForKeys.status).end(answerForKeys.body);
      response.end(JSON.stringify(request.url === "/keys" ? { keys: published.keys } : published.#metadata()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    published.#address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return published;
  }

  get issuer(): string {
    return this.#address;
  }

  async newKey(kid: string, alg = "ES256"): Promise<(claims?: Record<string, unknown>) => Promise<string>> {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    this.keys.push({ ...(await exportJWK(publicKey)), kid, alg });
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.#address, aud: "us", sub: "a", iat: now, exp: now + 60 };
    return (claims) => new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey);
  }

  /** Creates the service's view of this issuer. */
  connect(times: Partial<IssuerTimes> = {}): ExternalIssuer {
    const entry = { id: "a", name: "Acme", issuer: this.#address, clientId: "c", emailDomains: ["a.test"] };
    const organizationId = "0198c0de-0000-7000-8000-00000000ac3e";
    const text = JSON.stringify([{ ...entry, organizationId, defaultRoles: ["viewer"] }]);
    const [provider] = parseProviders(text, () => "").providers;
    if (provider === undefined) throw new Error("It is not taken.");
    return new ExternalIssuer(provider, () => {}, { ...impatient, ...times });
  }

  #metadata(): object {
    const to = (path: string) => `${this.#address}/${path}`;
    return {
      issuer: this.#address,
      authorization_endpoint: to("auth"),
      token_endpoint: to("token"),
      jwks_uri: to("keys"),
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
      ...this.changes,
    };
  }
}

async function isValid(issuer: ExternalIssuer, token: string): Promise<boolean> {
  return (await verifySigned(issuer, token, "us", Date.now())) !== undefined;
}

test("many simultaneous callers cause one request for an issuer's metadata", async () => {
  const published = await Published.start();
  const issuer = published.connect();
  await Promise.all([1, 2, 3].map(() => issuer.discover()));
  await issuer.discover();
  expect(published.asked).toEqual(["/.well-known/openid-configuration"]);
});

test("old issuer metadata is requested again, and stays in use while the issuer is unreachable", async () => {
  const published = await Published.start();
  const issuer = published.connect({ maxAgeMs: 0 });
  await issuer.discover();
  await issuer.discover();
  expect(published.asked).toHaveLength(2);
  published.isDown = true;
  await issuer.discover();
  const forgetful = published.connect({ maxAgeMs: 0, maxStaleMs: 0 });
  await expect(forgetful.discover()).rejects.toMatchObject({ code: "UnavailableError" });
});

test("an issuer that did not answer is asked again only after a while", async () => {
  const published = await Published.start();
  published.isDown = true;
  const issuer = published.connect({ failurePauseMs: 60_000 });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await expect(issuer.discover()).rejects.toMatchObject({
      code: "UnavailableError",
      message: "Acme cannot be reached. Try again in a moment.",
    });
  }
  expect(published.asked).toHaveLength(1);
});

test("a new key of the issuer is found at its first use", async () => {
  const published = await Published.start();
  const signOld = await published.newKey("old");
  const issuer = published.connect();
  expect(await isValid(issuer, await signOld())).toBe(true);
  published.keys = [];
  const signNew = await published.newKey("new");
  expect(await isValid(issuer, await signNew())).toBe(true);
  expect(await isValid(issuer, await signOld())).toBe(false);
});

test("shortly after a request for keys, tokens with an unknown key id cause no other request", async () => {
  const published = await Published.start();
  const signKnown = await published.newKey("known");
  const issuer = published.connect({ keyCooldownMs: 60_000 });
  expect(await isValid(issuer, await signKnown())).toBe(true);
  const kept = published.keys;
  published.keys = [];
  const signUnknown = await published.newKey("unknown");
  published.keys = kept;
  published.asked = [];
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await isValid(issuer, await signUnknown())).toBe(false);
  expect(published.asked).toEqual([]);
});

test.each([
  undefined,
  { status: 503, body: "{}" },
  { status: 302, body: "{}" },
  { status: 200, body: "<html>" },
  { status: 200, body: '{"keys":1}' },
])(
  "a token is neither valid nor invalid while the answer is %j instead of keys, and not every token causes a new request",
  async (answer) => {
    const published = await Published.start();
    const signToken = await published.newKey("known");
    const issuer = published.connect({ failurePauseMs: 60_000 });
    await issuer.discover();
    published.isDown = answer === undefined;
    published.answerForKeys = answer;
    published.asked = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(isValid(issuer, await signToken())).rejects.toMatchObject({ code: "UnavailableError" });
    }
    expect(published.asked).toEqual(["/keys"]);
  },
);

test("a key whose kind does not match the accepted algorithms verifies nothing", async () => {
  const published = await Published.start();
  const signToken = await published.newKey("p384", "ES384");
  expect(await isValid(published.connect(), await signToken())).toBe(false);
});

test("an issuer whose metadata names another issuer, or no keys, is rejected", async () => {
  const published = await Published.start();
  for (const changes of [{ issuer: "https://other.test" }, { jwks_uri: undefined }, { jwks_uri: "no address" }]) {
    published.changes = changes;
    await expect(published.connect().discover()).rejects.toMatchObject({ code: "UnavailableError" });
  }
});
