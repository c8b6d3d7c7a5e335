import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import type { Database } from "../../src/store/database.ts";
import { DirectoryLockedError, lockDirectory } from "../../src/store/directory-lock.ts";
import { type EmbeddedOptions, openEmbedded } from "../../src/store/embedded.ts";
import { Child } from "./child.ts";
import { addNote, createNotes, readNotes } from "./notes.ts";

/** A data directory of the test's own: a copy of a store that was created before, since creating one takes seconds. */
async function newDirectory(content: "store" | "empty"): Promise<string> {
  const directory = join(inject("scratchDirectory"), randomBytes(6).toString("hex"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (content === "store") {
    await cp(join(inject("embeddedTemplate"), "postgres"), join(directory, "postgres"), { recursive: true });
  }
  return directory;
}

async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Database> {
  const onSyncFailed = (error: unknown) => {
    throw error;
  };
  const database = await openEmbedded({ dataDir, bufferMb: 16, onSyncFailed, ...options });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await database.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...database, close };
}

async function openInProcess(dataDir: string): Promise<Child<unknown>> {
  const child = await Child.start(join(import.meta.dirname, "embedded-process.ts"), [dataDir]);
  onTestFinished(() => child.kill());
  return child;
}

test("every commit reaches the disk before it is answered, and reading costs no sync", async () => {
  let syncCount = 0;
  const database = await open(await newDirectory("store"), { onSync: () => (syncCount += 1) });
  await createNotes(database);
  const syncsOf = async (work: () => Promise<unknown>) => {
    const before = syncCount;
    await work();
    return syncCount - before;
  };

  for (const content of ["one", "two", "three"]) {
    expect(await syncsOf(() => database.transaction((transaction) => addNote(transaction, content)))).toBe(1);
  }
  expect(await syncsOf(() => addNote(database, "four"))).toBe(1);
  expect(await syncsOf(() => database.transaction(readNotes))).toBe(0);
  expect(await syncsOf(() => readNotes(database))).toBe(0);
});

test("the fault that the crash check plants is one: without it nothing is synced", async () => {
  let syncCount = 0;
  const database = await open(await newDirectory("store"), { isSynced: false, onSync: () => (syncCount += 1) });
  await createNotes(database);
  await addNote(database, "one");
  expect(syncCount).toBe(0);
});

test("what was reported as committed is there after the process was killed", async () => {
  const directory = await newDirectory("store");
  const child = await openInProcess(directory);
  const contents = Array.from({ length: 40 }, (_, index) => `note ${String(index).padStart(2, "0")}`);
  for (const content of contents) expect(await child.ask(content)).toBe(content);
  // One more is on its way when the process dies: it may be there or not.
  const dying = child.ask("on its way").catch(() => undefined);

  await child.kill();
  await dying;

  const notes = await readNotes(await open(directory));
  expect(notes.filter((content) => content !== "on its way")).toEqual(contents);
});

test("a second process is kept off the directory, and gets in when the first was killed", async () => {
  const directory = await newDirectory("store");
  const first = await openInProcess(directory);

  const refused = await open(directory).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DirectoryLockedError);
  expect(refused).toMatchObject({ message: expect.stringContaining(directory) });

  await first.kill();
  await createNotes(await open(directory));
});

test("the same process, too, opens a directory once at a time", async () => {
  const directory = await newDirectory("store");
  const first = await open(directory);
  await expect(open(directory)).rejects.toBeInstanceOf(DirectoryLockedError);

  await first.close();
  await createNotes(await open(directory));
});

test("a creation that was interrupted is begun anew, also while its remains are still at work", async () => {
  const directory = await newDirectory("empty");
  await mkdir(join(directory, "postgres.unfinished-1"), { recursive: true });
  await writeFile(join(directory, "postgres.unfinished-1", "PG_VERSION"), "18\n");
  const script = join(import.meta.dirname, "embedded-process.ts");
  const killed = spawn(process.execPath, [script, directory], { stdio: "ignore" });
  await vi.waitFor(async () => expect(await unfinishedOf(directory)).not.toEqual(["postgres.unfinished-1"]), {
    timeout: 10_000,
    interval: 5,
  });
  killed.kill("SIGKILL");
  await once(killed, "exit");
  expect(existsSync(join(directory, "postgres"))).toBe(false);

  const database = await open(directory);

  await createNotes(database);
  expect(await readNotes(database)).toEqual([]);
  expect(await unfinishedOf(directory)).toEqual([]);
});

async function unfinishedOf(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.includes("unfinished"));
}

test("nobody else on the machine can look into the store, also where the data directory is open to them", async () => {
  const directory = await newDirectory("store");
  await chmod(directory, 0o755);
  await chmod(join(directory, "postgres"), 0o755);
  await open(directory);
  expect((await stat(join(directory, "postgres"))).mode & 0o777).toBe(0o700);

  const made = join(directory, "made", "by", "the", "service");
  lockDirectory(made)();
  expect((await stat(made)).mode & 0o777).toBe(0o700);
});

const canInject = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0;

test.skipIf(!canInject)("a commit whose sync fails is not reported, and the process ends", async () => {
  const directory = await newDirectory("store");
  const child = await openInProcess(directory);
  expect(await child.ask("before")).toBe("before");
  const strace = await breakSyncsOf(child.pid);

  await expect(child.ask("after")).rejects.toThrow("has ended");

  expect(await child.ended()).toBe(7);
  await once(strace, "exit");
  // What was on the disk before is whole.
  expect(await readNotes(await open(directory))).toContain("before");
});

/** From now on each sync of this process fails as on a broken disk. */
async function breakSyncsOf(pid: number): Promise<ChildProcess> {
  const inject = ["-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO"];
  const strace = spawn("strace", ["-f", ...inject, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface(strace.stderr)) if (/attached/.test(line)) break;
  strace.stderr.resume();
  return strace;
}
