import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { readConfig, startService } from "@stepwell/server";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { layEmbeddedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { converse, endAll, entry, printed, run, start, stop } from "./process.ts";

let directory: string;
const secretKey = randomBytes(32).toString("base64");

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-start-"));
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

const impatient = { STEPWELL_DATABASE_START_SECONDS: "0", STEPWELL_SECRET_KEY: secretKey, STEPWELL_PORT: "0" };

/** Returns the complaint of `stepwell serve`, which must be one line. The process must end with 1. */
async function complaint(environment: Record<string, string>): Promise<string> {
  const ended = await run({ ...impatient, ...environment }, "serve");
  expect(ended).toMatchObject({ code: 1, complaint: expect.stringMatching(/^stepwell: [^\n]+\n$/) });
  return ended.complaint;
}

/**
 * Returns the message of the error with which a start in this process ends. The tests with `complaint` show that `stepwell serve` prints such a
 * message. Those tests take longer, because each of their processes must load the whole service.
 */
async function reasonOf(environment: Record<string, string>): Promise<string> {
  const quiet = { STEPWELL_METRICS_PORT: "0", STEPWELL_LOG_LEVEL: "silent" };
  const started = await Promise.resolve({ ...impatient, ...quiet, ...environment })
    .then((settings) => startService(readConfig(settings)))
    .catch((error: Error) => error.message);
  if (typeof started === "string") return started;
  await started.stop();
  throw new Error("It started.");
}

function urlWith(change: (url: URL) => void): string {
  const url = new URL(inject("postgresUrl"));
  change(url);
  return url.href;
}

test.concurrent.each([
  ["that is no address", "foo", "does not begin with postgres://"],
  ["of another database", "mysql://u:hunter2@127.0.0.1/x", "but begins with mysql://"],
  ["with a password that is not encoded", "postgres://u:hunter2#/a@127.0.0.1/x", "write # as %23"],
  ["at which nothing listens", "postgres://u:hunter2@127.0.0.1:1/x", "nothing accepts connections at 127.0.0.1:1."],
  [
    "at which nothing listens by name",
    "postgres://u:hunter2@localhost:1/x",
    "nothing accepts connections at localhost:1",
  ],
  ["with an unknown host", "postgres://u:hunter2@nowhere.invalid/x", 'the host "nowhere.invalid" is not known'],
  ["of a socket that is not there", "postgres:///x?host=/nowhere", "no socket of a PostgreSQL server in /nowhere"],
])("an address %s stops the start with a sentence about DATABASE_URL", async (_what, url, words) => {
  const said = await reasonOf({ DATABASE_URL: url });
  expect(said).toContain(words);
  expect(said).toMatch(/^DATABASE_URL[^\n]+$/);
  expect(said).not.toContain("hunter2");
});

test.concurrent.each<[string, (url: URL) => void, string]>([
  ["a wrong password", (url) => (url.password = "hunter2"), 'refuses the password of the user "postgres"'],
  ["an unknown database", (url) => (url.pathname = "/nowhere"), 'has no database "nowhere"'],
  ["TLS that the server does not speak", (url) => (url.search = "?sslmode=require"), "does not speak TLS"],
  [
    "a file that is not there",
    (url) => (url.search = "?sslrootcert=/nowhere/ca.pem"),
    "the file /nowhere/ca.pem cannot be read",
  ],
])(
  "a database address that has %s stops the start with a sentence about DATABASE_URL",
  async (_what, change, words) => {
    const said = await reasonOf({ DATABASE_URL: urlWith(change) });
    expect(said).toContain(words);
    expect(said).toMatch(/^DATABASE_URL[^\n]+$/);
    expect(said).not.toContain(new URL(inject("postgresUrl")).password);
  },
);

inWholeMatrix(() => {
  test.concurrent("a server that requires a password stops the start at once when none is given", async () => {
    const said = await complaint({ DATABASE_URL: urlWith((url) => (url.password = "")) });
    expect(said).toMatch(/^stepwell: DATABASE_URL.* and the address has none/);
  });

  test.concurrent("an untrusted certificate stops the start with a message that says what to do", async () => {
    const [key, certificate] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
    const subject = ["-subj", "/CN=localhost", "-days", "2"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, "-keyout", key, "-out", certificate],
      {
        stdio: "ignore",
      },
    );
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write("S");
        const options = { isServer: true, key: readFileSync(key), cert: readFileSync(certificate) };
        new TLSSocket(socket, options).on("error", () => {});
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const said = await reasonOf({ DATABASE_URL: `postgres://u:hunter2@localhost:${port}/x?sslmode=verify-full` });
    server.close();
    expect(said).toMatch(/^DATABASE_URL: the certificate .* is not trusted .*sslrootcert=FILE/);
  });

  test.concurrent("a server that is older than the required version stops the start", async () => {
    // A proxy in front of a real server reports an old version.
    const proxy = await TcpProxy.before(inject("postgresUrl"));
    const version = await onServer(inject("postgresUrl"), async (client) => {
      const { rows } = await client.query<{ number: string }>("SELECT current_setting('server_version_num') AS number");
      return rows[0]?.number ?? "";
    });
    proxy.changeAnswers((answer) => Buffer.from(answer.toString("latin1").replaceAll(version, "130004"), "latin1"));
    const said = await complaint({ DATABASE_URL: proxy.url });
    await proxy.stop();
    expect(said).toMatch(/^stepwell: DATABASE_URL: the server is PostgreSQL .*, and Stepwell needs 15 or newer/);
  });

  test.concurrent("a role without the right to create tables stops the start with a message that says what to grant", async () => {
    const { url, remove } = await newDatabase("empty");
    const role = `r_${randomBytes(4).toString("hex")}`;
    await onServer(url, (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`));
    const asRole = new URL(url);
    asRole.username = role;
    asRole.password = "p";
    const said = await complaint({ DATABASE_URL: asRole.href });
    expect(said).toContain(`DATABASE_URL: the user "${role}" lacks a right`);
    await remove();
  });
});

inWholeMatrix(() => {
  test.concurrent("a start waits for a server that is not up yet, and says so", async () => {
    const { url, remove } = await newDatabase("newest");
    const proxy = await TcpProxy.before(url);
    await proxy.refuse();
    const environment = { DATABASE_URL: proxy.url, STEPWELL_SECRET_KEY: secretKey, STEPWELL_PORT: "0" };
    const service = converse({ ...environment, STEPWELL_DATABASE_START_SECONDS: "60" }, ["serve"]);
    await service.said('"msg":"waiting for the database"');
    await proxy.pass();
    await service.said('"msg":"listening"');
    await proxy.stop();
    await remove();
  });
});

inWholeMatrix(() => {
  test.concurrent("a mistyped setting is a warning in the log, and a secret key that does not match the store stops the start", async () => {
    const { url, remove } = await newDatabase("newest");
    const environment = { DATABASE_URL: url, STEPWELL_SECRET_KEY: secretKey, STEPWELL_PORT: "0" };
    const service = start({ ...environment, STEPWELL_PROT: "1" }, "serve");
    expect(await printed(service, '"msg":"listening"')).toContain(
      '"msg":"The variable STEPWELL_PROT is set, but Stepwell knows no such setting; did you mean `STEPWELL_PORT`?"',
    );
    await stop(service, "SIGTERM");
    const said = await complaint({ ...environment, STEPWELL_SECRET_KEY: randomBytes(32).toString("base64") });
    expect(said).toContain("STEPWELL_SECRET_KEY is not the secret key of this store");
    await remove();
  });
});

test.concurrent("an invalid data directory stops the start with a sentence about STEPWELL_DATA_DIR", async () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  expect(await reasonOf({ STEPWELL_DATA_DIR: file })).toContain(
    `STEPWELL_DATA_DIR names ${file}, but a file is in the way`,
  );
  const below = join(file, "below");
  expect(await reasonOf({ STEPWELL_DATA_DIR: below })).toContain(`STEPWELL_DATA_DIR names ${below}, but a file is`);
  const strange = join(directory, "strange");
  mkdirSync(join(strange, "postgres"), { recursive: true });
  expect(await complaint({ STEPWELL_DATA_DIR: strange })).toMatch(
    /STEPWELL_DATA_DIR names .* but the store in .* does not open/,
  );
});

inWholeMatrix(() => {
  test.concurrent("a data directory that another process uses stops the start with a sentence about STEPWELL_DATA_DIR", async () => {
    const dataDir = join(directory, "locked");
    await layEmbeddedStore(dataDir);
    const service = start({ STEPWELL_DATA_DIR: dataDir, STEPWELL_PORT: "0" }, "serve");
    await printed(service, '"msg":"listening"');
    expect(await complaint({ STEPWELL_DATA_DIR: dataDir })).toMatch(
      /Another Stepwell process holds .*STEPWELL_DATA_DIR/,
    );
    await stop(service, "SIGTERM");
  });
});

test.concurrent.each([
  ["STEPWELL_PORT", (taken: string) => ({ STEPWELL_PORT: taken })],
  ["STEPWELL_METRICS_PORT", (taken: string) => ({ STEPWELL_METRICS_PORT: taken })],
])("a port that is taken stops the start with %s", async (variable, settings) => {
  const { url, remove } = await newDatabase("newest");
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const said = await complaint({ DATABASE_URL: url, ...settings(String(port)) });
  taken.close();
  expect(said).toBe(
    `stepwell: Port ${port} is taken. Stop the program that listens there, or choose another port with ${variable}.\n`,
  );
  await remove();
});

test.concurrent.each([
  [
    "an address as Kubernetes sets it",
    { STEPWELL_PORT: "tcp://10.0.0.1:8080" },
    /STEPWELL_PORT .*`enableServiceLinks: false`/,
  ],
  ["an invalid port", { STEPWELL_PORT: "http" }, /STEPWELL_PORT must be a whole number from 0 to 65535/],
  ["a weak secret key", { STEPWELL_SECRET_KEY: "secret" }, /STEPWELL_SECRET_KEY must be at least 32 random bytes/],
  [
    "a file of providers that is not there",
    { STEPWELL_SIGN_IN_PROVIDERS_FILE: "/nowhere" },
    /STEPWELL_SIGN_IN_PROVIDERS_FILE \(\/nowhere\)/,
  ],
])("%s stops the start before anything is opened", async (_what, settings, words) => {
  const dataDir = join(directory, "never-made");
  expect(await reasonOf({ STEPWELL_DATA_DIR: dataDir, ...settings })).toMatch(words);
  expect(existsSync(dataDir)).toBe(false);
});

inWholeMatrix(() => {
  test("a directory that this user may not write to stops the start with a sentence about STEPWELL_DATA_DIR", async () => {
    const dataDir = join(directory, "closed");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o500);
    onTestFinished(() => chmodSync(dataDir, 0o700));
    // Root may write everywhere, unless this command takes that permission away.
    const without = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : ["env"];
    const [command = "", ...words] = [...without, process.execPath, entry, "serve"];
    const environment = { PATH: process.env.PATH, STEPWELL_DATA_DIR: dataDir };
    const { status, stderr } = spawnSync(command, words, { env: environment, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^stepwell: STEPWELL_DATA_DIR names .*, but the user that runs this process may not [^\n]+\n$/,
    );
  });
});

test.concurrent.each([
  ["ada", "acme", '--email must be an e-mail address, but is "ada".'],
  ["ada@example.org", " ", "--organization must be a name of 1 to 256 visible characters."],
])(
  "init rejects an owner %s of the organization '%s' before it creates anything",
  async (email, organization, words) => {
    const dataDir = join(directory, "never-made");
    const ended = await run({ STEPWELL_DATA_DIR: dataDir }, "init", "--email", email, "--organization", organization);
    expect(ended).toMatchObject({ code: 2, complaint: `stepwell: ${words}\n` });
    expect(existsSync(dataDir)).toBe(false);
  },
);
