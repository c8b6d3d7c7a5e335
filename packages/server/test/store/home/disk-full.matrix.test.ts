import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Child } from "@stepwell/testing/child.ts";
import { readNotes, said } from "@stepwell/testing/notes.ts";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onServer, startOwnPostgres } from "@stepwell/testing/postgres/postgres-server.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { layEmbeddedStore, type StoreHome } from "@stepwell/testing/stores.ts";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { openHome } from "../../../src/open-store.ts";
import { statement } from "../../../src/store/home/database.ts";

async function started(home: StoreHome["name"], environment: Record<string, string>, heartbeatMs = 100) {
  const store = { environment, remove: async () => {} };
  const service = new TestService(
    { name: home, prepare: async () => store },
    { STEPWELL_HEARTBEAT_MS: String(heartbeatMs), STEPWELL_LEASE_MS: "60000", STEPWELL_LOG_LEVEL: "silent" },
  );
  await service.start();
  onTestFinished(() => service.stop());
  return service;
}

async function untilReadiness(service: TestService, status: number): Promise<void> {
  const ask = () => service.client(undefined).call("GetReadiness", { status });
  await vi.waitFor(ask, { timeout: 20_000, interval: 20 });
}

test("a node is not ready from the change that found the disk full until it has found room", async () => {
  const { url, remove } = await newDatabase("newest");
  onTestFinished(remove);
  const service = await started("postgres", { DATABASE_URL: url }, 1_500);
  const { api } = await service.newOrganization();
  await onServer(url, (client) =>
    client.query(
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER no_room BEFORE INSERT ON workflow FOR EACH ROW EXECUTE FUNCTION no_room()`,
    ),
  );
  const refused = await api.refused("RegisterWorkflow", "UnavailableError", { body: { name: "w" } });
  expect(refused.body.detail).toContain("disk");
  expect(refused.headers.get("retry-after")).toBe("5");
  const { body } = await service.client(undefined).refused("GetReadiness", "UnavailableError");
  expect(body.detail).toContain("The disk of the store is full");
  await service.client(undefined).call("GetLiveness", { status: 200 });
  await onServer(url, (client) => client.query("DROP TRIGGER no_room ON workflow"));
  await untilReadiness(service, 200);
  await api.call("RegisterWorkflow", { body: { name: "w" } });
});

/** Mounts a file system that is in memory and has this many megabytes. Returns undefined if the user may not mount one. */
function smallDisk(megabytes: number): string | undefined {
  const directory = join(inject("scratchDirectory"), randomBytes(6).toString("hex"));
  mkdirSync(directory, { mode: 0o755 });
  const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory];
  if (spawnSync("mount", options).status !== 0) return undefined;
  return directory;
}

function unmount(directory: string): void {
  spawnSync("umount", ["-l", directory]);
  rmSync(directory, { recursive: true, force: true });
}

const mayMount = (() => {
  const probe = process.platform === "linux" && process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]);
  return probe !== false && probe.status === 0;
})();
if (!mayMount)
  process.stderr.write("This user may mount nothing: what a full disk does to the store is not tried here.\n");

/** Fills the rest of the disk. Returns the function that frees the space again. */
function fill(disk: string): () => void {
  const path = join(disk, "filler");
  const file = openSync(path, "a");
  const block = Buffer.alloc(4_096);
  try {
    while (writeSync(file, block) === block.length);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
}

const takeRoom = said("INSERT INTO note SELECT repeat(md5(n::text), 100) FROM generate_series(1, 1000) n");

const lastHeartbeat = statement<{ ms: number }>(
  "test_last_heartbeat",
  "global",
  "SELECT extract(epoch FROM max(heartbeat_at))::float8 * 1000 AS ms FROM node",
);

async function expectFullAndRecovery(service: TestService, disk: string): Promise<void> {
  const { database } = service.running;
  const { api } = await service.newOrganization();
  await database.query(said("CREATE TABLE note (content text NOT NULL)"), []);
  await untilReadiness(service, 200);
  const free = fill(disk);
  const failed = vi.waitFor(
    async () => {
      await expect(database.requests.query(takeRoom, [])).rejects.toMatchObject({ name: "DiskFullError" });
    },
    { timeout: 20_000, interval: 1 },
  );
  await failed;
  await service.client(undefined).call("GetReadiness", { status: 503 });
  // Heartbeats continue, and each of them checks whether the disk has room again.
  const beganAt = (await database.query(lastHeartbeat, []))[0]?.ms ?? 0;
  await vi.waitFor(
    async () => expect((await database.query(lastHeartbeat, []))[0]?.ms).toBeGreaterThan(beganAt + 500),
    { timeout: 20_000, interval: 50 },
  );
  await service.client(undefined).call("GetReadiness", { status: 503 });
  free();
  await untilReadiness(service, 200);
  await database.requests.query(takeRoom, []);
  await api.call("RegisterWorkflow", { body: { name: "w" } });
}

describe.skipIf(!mayMount)("on a disk that is really full", () => {
  test("a node on a PostgreSQL server is not ready until the tables have room, although its heartbeats continue", async () => {
    const disk = smallDisk(40);
    expect(disk).toBeDefined();
    if (disk === undefined) return;
    // A full tablespace also breaks checkpoints, and every session that must write a page of the tablespace from the shared memory. So this test has
    // a server of its own.
    const own = await startOwnPostgres();
    onTestFinished(() => own.stop());
    const server = own.urlOf("postgres");
    const name = `full_${randomBytes(4).toString("hex")}`;
    const place = join(disk, "space");
    mkdirSync(place);
    await onServer(server, async (client) => {
      const { rows } = await client.query("SHOW data_directory");
      const { uid, gid } = statSync(rows[0].data_directory);
      chownSync(place, uid, gid);
      chmodSync(place, 0o700);
      chmodSync(inject("scratchDirectory"), 0o755);
      await client.query(`CREATE TABLESPACE ${name} LOCATION '${place}'`);
      await client.query(`CREATE DATABASE ${name} TABLESPACE ${name}`);
    });
    onTestFinished(async () => {
      await onServer(server, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await client.query(`DROP TABLESPACE ${name}`);
      });
      unmount(disk);
    });
    const url = new URL(server);
    url.pathname = `/${name}`;
    await expectFullAndRecovery(await started("postgres", { DATABASE_URL: url.href }), disk);
  }, 60_000);

  test("a node whose embedded store cannot write its log ends, and the next start has everything that was acknowledged", async () => {
    const disk = smallDisk(100);
    expect(disk).toBeDefined();
    if (disk === undefined) return;
    onTestFinished(() => unmount(disk));
    const dataDir = join(disk, "data");
    await layEmbeddedStore(dataDir);
    const script = join(import.meta.dirname, "embedded-process.ts");
    const child = await Child.start(script, [dataDir]);
    onTestFinished(() => child.kill());
    expect(await child.ask("before")).toBe("before");
    const free = fill(disk);
    await expect(child.ask("switch the log")).rejects.toThrow("has ended");
    expect(await child.ended()).toBe(8);
    free();
    const next = await Child.start(script, [dataDir]);
    onTestFinished(() => next.kill());
    expect(await next.ask("after")).toBe("after");
    await next.kill();
    const database = await openHome(readConfig({ STEPWELL_DATA_DIR: dataDir }), {});
    onTestFinished(() => database.close());
    expect(await readNotes(database)).toEqual(["after", "before"]);
  }, 60_000);

  test("a node on the embedded store is not ready until there is room", async () => {
    const disk = smallDisk(200);
    expect(disk).toBeDefined();
    if (disk === undefined) return;
    onTestFinished(() => unmount(disk));
    await layEmbeddedStore(join(disk, "data"));
    await expectFullAndRecovery(await started("embedded", { STEPWELL_DATA_DIR: join(disk, "data") }), disk);
  }, 60_000);
});
