import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { readConfig } from "../../../server/src/config.ts";
import { openStore } from "../../../server/src/open-store.ts";
import { scope } from "../scope.ts";
import { citusUrl, sealOnCitus } from "./citus-server.ts";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A data directory at the newest schema, which comes some seconds after the first tests; each test file works on a copy, since creating one takes
     * seconds. The quick loop has none.
     */
    embeddedTemplate: string;
    /** The directory for its copies. */
    scratchDirectory: string;
    /** A PostgreSQL server whose database `template` is at the newest schema. */
    postgresUrl: string;
  }
}

export const templateDatabase = "stepwell_template";

let tearDown: (() => Promise<void>) | undefined;

/** Runs once before all tests: makes both homes of the store, so that each test file gets its own at once. The projects that want them share them. */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ("postgresUrl" in vitest.getProvidedContext()) return;
  const scratchDirectory = await mkdtemp(join(await roomyMemory(), "stepwell-test-"));
  // What lies in memory must not stay there, also when the run is broken off.
  process.once("exit", () => rmSync(scratchDirectory, { recursive: true, force: true }));
  const embeddedTemplate = join(scratchDirectory, "template");
  // The processes that tests start share one cache of compiled modules: half of the time to load the service is spent on types and compiling.
  process.env.NODE_COMPILE_CACHE ??= join(scratchDirectory, "compiled");
  // The quick loop has one home of the store. The other one takes seconds to make, and the tests that come first need none of it.
  const embedded = scope === "quick" ? undefined : prepareEmbedded(embeddedTemplate);
  const server = await startPostgres();
  tearDown = async () => {
    await embedded;
    await server.stop();
    // The last workers may still write down what they compiled.
    await rm(scratchDirectory, { recursive: true, force: true, maxRetries: 10 });
  };
  await server.recreate(templateDatabase);
  await prepare({ DATABASE_URL: server.urlOf(templateDatabase) });
  if (citusUrl !== undefined) await sealOnCitus(citusUrl, templateDatabase);
  vitest.provide("embeddedTemplate", embeddedTemplate);
  vitest.provide("scratchDirectory", scratchDirectory);
  vitest.provide("postgresUrl", server.urlOf("postgres"));
}

export async function teardown(): Promise<void> {
  await tearDown?.();
}

/**
 * Where the embedded stores of the tests lie: in memory, on a Linux that has much room for files there. These stores sync each commit, and need not survive
 * the machine. On a disk that others use as well, the tests of embedded stores waited for it for most of their time.
 */
async function roomyMemory(): Promise<string> {
  const memory = "/dev/shm";
  try {
    const { bavail, bsize } = await statfs(memory);
    if (bavail * bsize >= roomyBytes) return memory;
  } catch {
    // There is no such directory on this system.
  }
  return tmpdir();
}

/** Far more than the stores of four files at a time, of which each has 41 MB at its begin. */
const roomyBytes = 2_000_000_000;

/** The directory is there once it is whole. */
async function prepareEmbedded(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  await unpackEmptyCluster(unfinished);
  await prepare({ STEPWELL_DATA_DIR: unfinished });
  await rename(unfinished, directory);
}

/** Lays the empty cluster of the build, where there is one: the sources have none, and PGlite computes for four seconds to initialize a cluster. */
async function unpackEmptyCluster(dataDirectory: string): Promise<void> {
  const program = fileURLToPath(new URL("../../../server/dist/store/home/embedded-create.js", import.meta.url));
  if (!existsSync(join(dirname(program), "empty-cluster.tar.gz"))) return;
  await mkdir(dataDirectory, { mode: 0o700 });
  await promisify(execFile)(process.execPath, [program, join(dataDirectory, "postgres"), String(process.pid)]);
}

async function prepare(environment: Record<string, string>): Promise<void> {
  const store = await openStore(readConfig(environment));
  await store.close();
}
