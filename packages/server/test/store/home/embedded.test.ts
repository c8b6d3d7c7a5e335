import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { Child } from "@stepwell/testing/child.ts";
import { addNote, createNotes, readNotes, said } from "@stepwell/testing/notes.ts";
import { layEmbeddedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type Database, StoreUnavailableError } from "../../../src/store/home/database.ts";
import { DirectoryLockedError, lockDirectory } from "../../../src/store/home/directory-lock.ts";
import { openEmbedded } from "../../../src/store/home/embedded.ts";

const usual = {
  bufferMb: 16,
  timeoutMs: 5_000,
  onFull: () => {},
  onPanic: (reason: string) => {
    throw new Error(reason);
  },
  readTimeoutMs: 5_000,
  onSyncFailed: (error: unknown) => {
    throw error;
  },
};

/** The bytes of the log since the last checkpoint. */
const measureLog = "SELECT pg_current_wal_lsn() - redo_lsn AS bytes FROM pg_control_checkpoint()";

function emptyDirectory(): string {
  return join(inject("scratchDirectory"), randomBytes(6).toString("hex"));
}

/** Copies a data directory with a store that was created earlier, because creating one takes seconds. */
async function copyOfTemplate(): Promise<string> {
  const directory = emptyDirectory();
  await layEmbeddedStore(directory);
  return directory;
}

async function open(dataDir: string): Promise<Database> {
  const database = await openEmbedded({ ...usual, dataDir });
  onTestFinished(() => database.close());
  return database;
}

async function openInProcess(dataDir: string): Promise<Child<unknown>> {
  const child = await Child.start(join(import.meta.dirname, "embedded-process.ts"), [dataDir]);
  onTestFinished(() => child.kill());
  return child;
}

describe("an open store", () => {
  let directory: string;
  let database: Database;
  let syncCount = 0;

  beforeAll(async () => {
    directory = await copyOfTemplate();
    // After a restore from a backup, the directories may have this mode.
    await chmod(directory, 0o755);
    await chmod(join(directory, "postgres"), 0o755);
    database = await openEmbedded({ ...usual, dataDir: directory, onSync: () => (syncCount += 1) });
    await createNotes(database);
  });

  afterAll(async () => {
    await database.close();
    await rm(directory, { recursive: true });
  });

  async function syncsOf(work: () => Promise<unknown>): Promise<number> {
    const before = syncCount;
    await work();
    return syncCount - before;
  }

  test("keeps its log short: a checkpoint removes what has grown above the limit", async () => {
    const logOf = async () => Number((await ask<{ bytes: string }>(database, measureLog))[0]?.bytes);
    await ask(
      database,
      "CREATE TABLE filler AS SELECT repeat(md5(n::text), 30) AS text FROM generate_series(1, 5000) AS n",
    );
    const grown = await logOf();
    expect(grown).toBeGreaterThan(4_000_000);
    await database.upkeep.checkpointAbove(2 * grown);
    expect(await logOf()).toBeGreaterThanOrEqual(grown);
    await database.upkeep.checkpointAbove(4_000_000);
    expect(await logOf()).toBeLessThan(100_000);
  });

  test("freezes its oldest rows, also those of system tables, and does nothing if no row is old enough", async () => {
    const age = async () =>
      (
        await ask<{ age: number }>(
          database,
          "SELECT age(datfrozenxid) AS age FROM pg_database WHERE datname = current_database()",
        )
      )[0]?.age ?? 0;
    for (let count = 0; count < 200; count += 1) await addNote(database, `note ${count}`);
    expect(await age()).toBeGreaterThan(200);
    for (let table = 0; table < 300 && (await age()) > 200; table += 1) await database.upkeep.freezeOldest(150);
    expect(await age()).toBeLessThanOrEqual(200);
    await database.upkeep.freezeOldest(1_000_000);
  });

  test("syncs every commit to the disk before it is answered", async () => {
    for (const content of ["one", "two", "three"]) {
      expect(await syncsOf(() => database.transaction((transaction) => addNote(transaction, content)))).toBeGreaterThan(
        0,
      );
    }
    expect(await syncsOf(() => addNote(database, "four"))).toBeGreaterThan(0);
  });

  test("syncs nothing for reads", async () => {
    expect(await syncsOf(() => database.transaction(readNotes))).toBe(0);
    expect(await syncsOf(() => readNotes(database))).toBe(0);
  });

  test("continues after an error in the middle of a transaction, without the writes of that transaction", async () => {
    const counted = { ...said<{ count: number }>("SELECT count(*) AS count FROM note"), planned: "once" } as const;
    const [before] = await database.query(counted, []);
    const outOfMemory = said("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53200'; END $$");
    const work = database.transaction(async (transaction) => {
      await addNote(transaction, "given up");
      await transaction.query(outOfMemory, []);
    });
    await expect(work).rejects.toBeInstanceOf(StoreUnavailableError);
    const interrupted = database.transaction(async (transaction) => {
      await addNote(transaction, "given up");
      throw new StoreUnavailableError("nothing-written", new Error("the answer was too much"));
    });
    await expect(interrupted).rejects.toBeInstanceOf(StoreUnavailableError);

    await database.transaction((transaction) => addNote(transaction, "and on"));
    expect(await database.query(counted, [])).toEqual([{ count: (before?.count ?? 0) + 1 }]);
    expect(await readNotes(database)).not.toContain("given up");
  });

  test("denies other users of the machine access, even if its directory is open to them", async () => {
    expect((await stat(join(directory, "postgres"))).mode & 0o777).toBe(0o700);
  });

  test("can be open only once at a time, also within one process", async () => {
    await expect(openEmbedded({ ...usual, dataDir: directory })).rejects.toBeInstanceOf(DirectoryLockedError);
  });
});

test("a data directory that the service creates is private", async () => {
  const directory = join(emptyDirectory(), "made", "by", "the", "service");
  lockDirectory(directory)();
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test("a second process cannot open the store, can do so after the first was killed, and finds everything that the first acknowledged", async () => {
  const directory = await copyOfTemplate();
  const first = await openInProcess(directory);
  const contents = Array.from({ length: 40 }, (_, index) => `note ${String(index).padStart(2, "0")}`);
  for (const content of contents) expect(await first.ask(content)).toBe(content);

  const refused = await open(directory).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DirectoryLockedError);
  expect(refused).toMatchObject({ message: expect.stringContaining(directory) });

  // The process dies during one more change. This change may or may not be stored.
  const onItsWay = first.ask("on its way").catch(() => undefined);
  await first.kill();
  await onItsWay;
  const notes = await readNotes(await open(directory));
  expect(notes.filter((content) => content !== "on its way")).toEqual(contents);
});

inWholeMatrix(() => {
  test("an interrupted creation starts again, even while its child process is still running", async () => {
    const directory = emptyDirectory();
    await mkdir(join(directory, "postgres.unfinished-1"), { recursive: true });
    await writeFile(join(directory, "postgres.unfinished-1", "PG_VERSION"), "18\n");
    const script = join(import.meta.dirname, "embedded-process.ts");
    const killed = spawn(process.execPath, [script, directory], { stdio: "ignore" });
    const untilAtWork = async () => expect(await unfinishedOf(directory)).toEqual([expect.not.stringMatching(/-1$/)]);
    await vi.waitFor(untilAtWork, { timeout: 10_000, interval: 5 });
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect(existsSync(join(directory, "postgres"))).toBe(false);

    const database = await open(directory);

    await createNotes(database);
    expect(await readNotes(database)).toEqual([]);
    expect(await unfinishedOf(directory)).toEqual([]);
  });
});

async function unfinishedOf(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.includes("unfinished"));
}

const canInject = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0;

test.skipIf(!canInject)("a commit whose sync fails is not acknowledged, and the process ends", async () => {
  const directory = await copyOfTemplate();
  const child = await openInProcess(directory);
  expect(await child.ask("before")).toBe("before");
  const straceEnded = once(await breakSyncsOf(child.pid), "exit");

  await expect(child.ask("after")).rejects.toThrow("has ended");

  expect(await child.ended()).toBe(7);
  await straceEnded;
  // The data that was on the disk before the failed sync is complete.
  expect(await readNotes(await open(directory))).toContain("before");
});

/** Makes each further sync of the process `pid` fail, as on a broken disk. */
async function breakSyncsOf(pid: number): Promise<ChildProcess> {
  const inject = ["-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO"];
  const strace = spawn("strace", ["-f", ...inject, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface(strace.stderr)) if (/attached/.test(line)) break;
  strace.stderr.resume();
  return strace;
}
