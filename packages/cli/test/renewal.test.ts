import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { StepwellError } from "@stepwell/client";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { idTokenOf } from "../src/connection/renewal.ts";
import type { SignIn } from "../src/connection/stored-sign-ins.ts";
import { endAll, run } from "./process.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-renewal-"));
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** An id token is renewed two minutes before its end, so a token of this lifetime is renewed after a second. */
const shortLifeSeconds = 121;

/** The sign-in of a service. Its n-th renewal gives the refresh token `refresh-n`. A refresh token can be exchanged only once. */
class Provider {
  readonly baseUrl: string;
  /** The refresh tokens that were sent, in their order. */
  readonly exchanged: (string | null)[] = [];
  /** The id tokens that were issued, in their order. */
  readonly issued: string[] = [];
  isDown = false;
  /** True if a proxy in front of the service answers that there are too many requests. */
  isBusy = false;
  lifeSeconds = 3_600;

  private constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Starts the provider, which ends with its test. `answer` answers all requests that are not about the sign-in. */
  static async start(answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}) {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((ready) => server.once("listening", ready));
    const provider = new Provider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on("request", async (request, response) => {
      if (provider.isDown) request.socket.destroy();
      else if (provider.isBusy) response.writeHead(429).end("Slow down.");
      else if (request.url?.startsWith("/oidc/")) await provider.#answer(request, response);
      else answer(request, response);
    });
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return provider;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("content-type", "application/json");
    const issuer = `${this.baseUrl}/oidc`;
    if (request.url !== "/oidc/token")
      return void response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token` }));
    const refreshToken = new URLSearchParams(await text(request)).get("refresh_token");
    this.exchanged.push(refreshToken);
    if (refreshToken !== `refresh-${this.issued.length}`)
      return void response.writeHead(400).end('{"error":"invalid_grant"}');
    const iat = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: "stepwell-cli",
      sub: "u",
      email: "ada@example.org",
      iat,
      exp: iat + this.lifeSeconds,
    };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const idToken = `${part({ alg: "RS256" })}.${part({ ...claims, jti: this.issued.length })}.AAAA`;
    this.issued.push(idToken);
    const tokens = {
      id_token: idToken,
      access_token: "a",
      token_type: "bearer",
      refresh_token: `refresh-${this.issued.length}`,
    };
    response.end(JSON.stringify(tokens));
  }
}

/** Stores a sign-in that ends in this many milliseconds, and returns it with its file. */
async function storedSignIn({ baseUrl }: Provider, leftMs: number) {
  const file = join(await mkdtemp(join(directory, "home-")), "credentials.json");
  const signIn: SignIn = {
    baseUrl,
    email: "ada@example.org",
    idToken: "first",
    refreshToken: "refresh-0",
    expiresAt: Date.now() + leftMs,
    isInsecure: false,
  };
  await writeFile(file, JSON.stringify({ current: baseUrl, signIns: { [baseUrl]: signIn } }));
  vi.stubEnv("STEPWELL_CREDENTIALS_FILE", file);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stored = () => JSON.parse(readFileSync(file, "utf8")).signIns[baseUrl] as SignIn;
  return { signIn, file, stored };
}

inWholeMatrix(() => {
  test("`job watch` renews the sign-in while it waits, and stores it", async () => {
    const tokens = new Set<string>();
    const provider = await Provider.start((request, response) => {
      if (!request.url?.endsWith("/stream")) return void response.end('{"jobId":"j","status":"SUCCEEDED"}');
      const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
      // Each token is due for renewal before its stream ends, so no token may be used for a second stream.
      if (tokens.has(token)) return void response.writeHead(401).end();
      const sequence = tokens.add(token).size;
      const type = sequence === 3 ? "job.succeeded" : "step.started";
      const entry = { sequence, type, step: "s", at: "2026-11-23T12:00:00.000Z" };
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify(entry)}\n\n`);
      setTimeout(() => response.end(), 1_100);
    });
    provider.lifeSeconds = shortLifeSeconds;
    const { file, stored } = await storedSignIn(provider, 0);
    const environment = { STEPWELL_CREDENTIALS_FILE: file, STEPWELL_DATA_DIR: directory, XDG_CONFIG_HOME: directory };
    const organization = ["--organization", "00000000-0000-4000-8000-000000000000"];
    const { code, output } = await run(environment, "job", "watch", "j", ...organization);
    expect({ code, last: output.trimEnd().split("\n").at(-1) }).toEqual({
      code: 0,
      last: expect.stringContaining("job.succeeded"),
    });
    expect([...tokens]).toEqual(provider.issued.slice(0, 3));
    expect(provider.exchanged).toEqual(provider.issued.map((_, index) => `refresh-${index}`));
    expect(stored()).toMatchObject({
      idToken: provider.issued.at(-1),
      refreshToken: `refresh-${provider.issued.length}`,
    });
  });
});

test("calls at the same moment share one renewal, and later calls use its token", async () => {
  const provider = await Provider.start();
  const { signIn, stored } = await storedSignIn(provider, 60_000);
  const idToken = idTokenOf(signIn);
  const together = await Promise.all([idToken(), idToken(), idToken()]);
  expect([...together, await idToken()]).toEqual(Array(4).fill(provider.issued[0]));
  expect(provider.exchanged).toEqual(["refresh-0"]);
  expect(stored()).toMatchObject({ idToken: provider.issued[0], refreshToken: "refresh-1" });
});

test("a command that has waited uses the sign-in that another command has renewed meanwhile, since the earlier refresh token would end the session", async () => {
  const provider = await Provider.start();
  provider.lifeSeconds = shortLifeSeconds;
  const { signIn } = await storedSignIn(provider, 0);
  const [waiting, other] = [idTokenOf(signIn), idTokenOf(signIn)];
  await other();
  provider.lifeSeconds = 3_600;
  await vi.waitFor(
    async () => expect([await other(), provider.issued.length]).toEqual([provider.issued[1], 2]),
    10_000,
  );
  expect(await waiting()).toBe(provider.issued[1]);
  expect(provider.exchanged).toEqual(["refresh-0", "refresh-1"]);
});

test("while the service is out of reach, a valid token is still used, and an expired token causes an error, after which a waiting command tries again", async () => {
  const provider = await Provider.start();
  provider.isDown = true;
  const { signIn } = await storedSignIn(provider, 60_000);
  expect(await idTokenOf(signIn)()).toBe("first");
  const idToken = idTokenOf({ ...signIn, expiresAt: Date.now() - 1 });
  const error = await idToken().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepwellError);
  expect(error).toMatchObject({
    status: 0,
    code: "UnavailableError",
    message: expect.stringContaining("cannot be reached"),
  });
  provider.isDown = false;
  expect(await idToken()).toBe(provider.issued[0]);
});

test("while there are too many requests, a valid token is still used, and an expired token causes an error, after which a waiting command tries again", async () => {
  const provider = await Provider.start();
  provider.isBusy = true;
  const { signIn } = await storedSignIn(provider, 60_000);
  expect(await idTokenOf(signIn)()).toBe("first");
  const idToken = idTokenOf({ ...signIn, expiresAt: Date.now() - 1 });
  const message = `The service at ${provider.baseUrl} gets too many requests (it answered 429). Try again in a minute.`;
  await expect(idToken()).rejects.toMatchObject({ status: 0, code: "UnavailableError", message });
  provider.isBusy = false;
  expect(await idToken()).toBe(provider.issued[0]);
});

test("a command that has waited ends if the user has signed out meanwhile", async () => {
  const provider = await Provider.start();
  const { signIn, file } = await storedSignIn(provider, 0);
  await writeFile(file, '{"signIns":{}}');
  await expect(idTokenOf(signIn)()).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringContaining("has ended"),
  });
  expect(provider.exchanged).toEqual([]);
});
