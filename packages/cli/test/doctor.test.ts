import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describeUnknownVariables, examineInstallation, type Finding } from "@stepwell/server";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { PostgresCluster } from "@stepwell/testing/postgres/postgres-cluster.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { layEmbeddedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { endAll, printed, run, start, stop } from "./process.ts";

let directory: string;
const secretKey = randomBytes(32).toString("base64");

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-doctor-"));
});
afterEach(endAll);
afterAll(() => rm(directory, { recursive: true, force: true }));

/**
 * Runs `stepwell doctor`, which prints each finding and exits with 1 when one of them is a problem. Tests of a single rule call
 * `examineInstallation` instead, without a process.
 */
async function examine(environment: Record<string, string>): Promise<readonly Finding[]> {
  const { code, output, complaint } = await run(environment, "doctor", "--json");
  expect(complaint).toBe("");
  const { isHealthy, findings } = JSON.parse(output) as { isHealthy: boolean; findings: readonly Finding[] };
  expect(isHealthy).toBe(!findings.some(({ level }) => level === "problem"));
  expect(code).toBe(isHealthy ? 0 : 1);
  return findings;
}

async function service(environment: Record<string, string>) {
  const child = start({ ...environment, STEPWELL_PORT: "0" }, "serve");
  const log = await printed(child, '"msg":"listening"');
  return { child, log };
}

test("the doctor and a start know every variable that docs/cli.md names", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/cli.md"), "utf8");
  const names = page.match(/\bSTEPWELL_[A-Z_]+\b/g) ?? [];
  expect(names).toContain("STEPWELL_PROFILE");
  expect(describeUnknownVariables(Object.fromEntries(names.map((name) => [name, "a"])))).toEqual([]);
});

describe("on a PostgreSQL server that may lose acknowledged transactions", () => {
  async function ownDatabase(): Promise<{ url: string; environment: Record<string, string> }> {
    const { url, remove } = await newDatabase("newest");
    onTestFinished(remove);
    return { url, environment: { DATABASE_URL: url, STEPWELL_SECRET_KEY: secretKey } };
  }

  test("the doctor names each setting that may lose transactions, and exits with 1", async () => {
    const { url, environment } = await ownDatabase();
    const name = new URL(url).pathname.slice(1);
    await onServer(url, (client) => client.query(`ALTER DATABASE ${name} SET synchronous_commit = off`));
    const findings = await examine(environment);
    const durability = findings.filter(({ check }) => check === "durability");
    expect(durability).toEqual([
      { check: "durability", level: "problem", detail: expect.stringContaining("Set fsync = on.") },
      { check: "durability", level: "problem", detail: expect.stringContaining("Set synchronous_commit = on") },
    ]);
    const others = findings.filter(({ check }) => check !== "durability");
    expect(others.map(({ level }) => level)).not.toContain("problem");
    expect((await run(environment, "doctor")).output).toMatch(
      /^PROBLEM {2}durability {6}fsync is off: .*\n[\s\S]*\nProblems: 2; warnings: 0\.\n$/m,
    );
  });

  inWholeMatrix(() => {
    test("a start logs the same findings, one line each", async () => {
      const { environment } = await ownDatabase();
      const { child, log } = await service(environment);
      await stop(child, "SIGTERM");
      expect(log.split("\n").filter((line) => line.includes('"check":"durability"'))).toEqual([
        expect.stringMatching(/^{"level":50,(?!.*"level":).*"check":"durability".*"msg":"fsync is off: /),
      ]);
    });

    test("the doctor changes nothing in the store", async () => {
      const { url, environment } = await ownDatabase();
      const changes = async () =>
        await onServer(url, async (client) => {
          const counts = `SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY relname`;
          return (await client.query(counts)).rows;
        });
      const before = await changes();
      expect(before.length).toBeGreaterThan(20);
      await examineInstallation(environment);
      expect(await changes()).toEqual(before);
      const { url: empty, remove } = await newDatabase("empty");
      onTestFinished(remove);
      const findings = await examineInstallation({ ...environment, DATABASE_URL: empty });
      expect(findings).toContainEqual(
        expect.objectContaining({ check: "schema", detail: expect.stringContaining("no tables yet") }),
      );
      const tables = await onServer(
        empty,
        async (client) => (await client.query("SELECT 1 FROM pg_stat_user_tables")).rows,
      );
      expect(tables).toEqual([]);
    });

    test("the doctor works beside a running service, and recognizes a wrong secret key", async () => {
      const { environment } = await ownDatabase();
      const { child } = await service(environment);
      const findings = await examine(environment);
      expect(findings).toContainEqual({
        check: "secret key",
        level: "ok",
        detail: "The key decrypts the store's check value.",
      });
      expect(findings).toContainEqual(expect.objectContaining({ check: "clock", level: "ok" }));
      const wrong = await examine({ ...environment, STEPWELL_SECRET_KEY: randomBytes(32).toString("base64") });
      expect(wrong).toContainEqual({
        check: "secret key",
        level: "problem",
        detail: expect.stringMatching(/^STEPWELL_SECRET_KEY is not the secret key of this store/),
      });
      await stop(child, "SIGTERM");
    });
  });

  test("too few connections, an address without TLS and a mistyped setting are reported", async () => {
    const { url, environment } = await ownDatabase();
    const name = new URL(url).pathname.slice(1);
    await onServer(url, (client) => client.query(`ALTER DATABASE ${name} CONNECTION LIMIT 12`));
    const wrong = { STEPWELL_BASE_URL: "http://stepwell.example.com", STEPWELL_PROT: "1" };
    const findings = await examineInstallation({ ...environment, ...wrong });
    expect(findings).toContainEqual({
      check: "connections",
      level: "warning",
      detail: expect.stringContaining("12 connections"),
    });
    expect(findings).toContainEqual({
      check: "address",
      level: "problem",
      detail: expect.stringContaining("STEPWELL_BASE_URL"),
    });
    expect(findings).toContainEqual({
      check: "settings",
      level: "warning",
      detail: expect.stringContaining("`STEPWELL_PORT`?"),
    });
    const crowded = await examineInstallation({ ...environment, STEPWELL_DATABASE_POOL_SIZE: "20" });
    expect(crowded).toContainEqual({
      check: "connections",
      level: "problem",
      detail: expect.stringContaining("not enough for one node"),
    });
  });

  test("the doctor reports an unreachable server and an unreadable setting as problems, and does not crash", async () => {
    const { environment } = await ownDatabase();
    const away = await examineInstallation({ ...environment, DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" });
    expect(away).toContainEqual({
      check: "database",
      level: "problem",
      detail: expect.stringContaining("nothing accepts connections"),
    });
    const unreadable = await examineInstallation({ ...environment, STEPWELL_PORT: "http" });
    expect(unreadable).toEqual([
      { check: "settings", level: "problem", detail: expect.stringContaining("STEPWELL_PORT") },
    ]);
  });

  inWholeMatrix(() => {
    test("the doctor detects a connection pooler by the process id that the pooler invents", async () => {
      const { url, environment } = await ownDatabase();
      const proxy = await TcpProxy.before(url);
      onTestFinished(() => proxy.stop());
      // The beginning of the message BackendKeyData, in which a pooler reports a process id of its own.
      const start = Buffer.from([0x4b, 0, 0, 0, 12]);
      proxy.changeAnswers((answer) => {
        const at = answer.indexOf(start);
        if (at >= 0) answer.writeInt32BE(1, at + start.length);
        return answer;
      });
      expect(await examineInstallation({ ...environment, DATABASE_URL: proxy.url })).toContainEqual({
        check: "pooler",
        level: "ok",
        detail: "There is a connection pooler before the server. It does not share sessions.",
      });
    });
  });
});

test("the doctor finds no problem on a PostgreSQL server with default settings, and exits with 0", async () => {
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((ready) => listener.once("listening", ready));
  const { port } = listener.address() as { port: number };
  await new Promise((closed) => listener.close(closed));
  const cluster = await PostgresCluster.create({ port, password: "p" });
  onTestFinished(() => cluster.remove());
  await cluster.start();
  const environment = {
    DATABASE_URL: `postgres://postgres:p@127.0.0.1:${port}/postgres`,
    STEPWELL_SECRET_KEY: secretKey,
  };
  const { code, output } = await run(environment, "doctor");
  expect(output).toMatch(/^ok {7}durability .*\n[\s\S]*\nNo problem; warnings: 0\.\n$/m);
  expect(code).toBe(0);
});

describe("on the embedded store", () => {
  inWholeMatrix(() => {
    test("the doctor checks only what is visible from outside while a service holds the store, and everything afterwards", async () => {
      const dataDir = join(directory, "data");
      await layEmbeddedStore(dataDir);
      const environment = { STEPWELL_DATA_DIR: dataDir };
      const { child } = await service(environment);
      const beside = await examine(environment);
      expect(beside).toContainEqual({
        check: "database",
        level: "ok",
        detail: expect.stringContaining("A running process holds"),
      });
      expect(beside).toContainEqual(
        expect.objectContaining({ check: "disk", detail: expect.stringContaining("MB left") }),
      );
      await stop(child, "SIGTERM");

      const alone = await examine(environment);
      expect(alone.filter(({ check }) => check === "durability")).toEqual([
        { check: "durability", level: "ok", detail: expect.stringContaining("fsync and full_page_writes are on") },
        { check: "durability", level: "ok", detail: "An fsync of the embedded store reaches the disk." },
      ]);
      expect(alone).toContainEqual({
        check: "secret key",
        level: "ok",
        detail: "The key decrypts the store's check value.",
      });

      const keyFile = join(dataDir, "secret.key");
      chmodSync(keyFile, 0o644);
      const careless = await examineInstallation(environment);
      expect(careless).toContainEqual({
        check: "secret key",
        level: "problem",
        detail: expect.stringContaining(`Run chmod 600 ${keyFile}`),
      });
      renameSync(keyFile, `${keyFile}.away`);
      const missing = await examineInstallation(environment);
      expect(missing).toContainEqual({
        check: "secret key",
        level: "problem",
        detail: expect.stringContaining(`${keyFile} is missing`),
      });
      expect(existsSync(keyFile)).toBe(false);
    });

    test("a store that `init` made has no secret key before its first start, which is no problem", async () => {
      const dataDir = join(directory, "initialized");
      await layEmbeddedStore(dataDir);
      const environment = { STEPWELL_DATA_DIR: dataDir };
      const made = await run(environment, "init", "--email", "ann@example.com", "--organization", "acme");
      expect(made).toMatchObject({ code: 0 });
      expect((await examine(environment)).filter(({ check }) => check === "secret key")).toEqual([
        {
          check: "secret key",
          level: "ok",
          detail: `The first start creates the key, in ${join(dataDir, "secret.key")}.`,
        },
      ]);
      expect(existsSync(join(dataDir, "secret.key"))).toBe(false);
    });
  });

  test("the doctor creates no store where none exists", async () => {
    const dataDir = join(directory, "nothing");
    const findings = await examine({ STEPWELL_DATA_DIR: dataDir });
    expect(findings).toContainEqual({
      check: "database",
      level: "ok",
      detail: expect.stringContaining("There is no store"),
    });
    expect(existsSync(dataDir)).toBe(false);
  });
});
