import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { readConfig } from "../../../server/src/config.ts";
import { openStore } from "../../../server/src/open-store.ts";
import { scope } from "../scope.ts";
import { citusUrl, sealOnCitus } from "./citus-server.ts";
import { startPostgres } from "./postgres-server.ts";
import { roomyMemory } from "./roomy-memory.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A data directory at the newest schema. It is complete only some seconds after the first tests begin. Each test file works on a copy, since
     * creating a store takes seconds. The quick loop has no template.
     */
    embeddedTemplate: string;
    /** The directory for copies of the template, and for other files of the tests. */
    scratchDirectory: string;
    /** A PostgreSQL server whose database `stepwell_template` is at the newest schema. */
    postgresUrl: string;
  }
}

export const templateDatabase = "stepwell_template";

let tearDown: (() => Promise<void>) | undefined;

/**
 * Runs once before all tests: makes a template in each home of the store that the run uses, so that a test file only needs to copy it to get
 * its own store. All projects that need stores share the templates.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ("postgresUrl" in vitest.getProvidedContext()) return;
  const scratchDirectory = await mkdtemp(join(await roomyMemory(), "stepwell-test-"));
  // Files in memory must be removed, even when the run is aborted.
  process.once("exit", () => rmSync(scratchDirectory, { recursive: true, force: true }));
  const embeddedTemplate = join(scratchDirectory, "template");
  // The processes that tests start share one cache of compiled modules: without it, half of the time to load the service goes into removing types and
  // compiling.
  process.env.NODE_COMPILE_CACHE ??= join(scratchDirectory, "compiled");
  // The quick loop uses only PostgreSQL. In other runs, making the embedded template takes seconds. The start does not wait for it: only the tests
  // that need it do (`layEmbeddedStore`).
  const embedded = scope === "quick" ? undefined : prepareEmbedded(embeddedTemplate);
  const server = await startPostgres();
  tearDown = async () => {
    await embedded;
    await server.stop();
    // The last workers may still be writing to the cache of compiled modules.
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

/** The directory gets its name only when it is complete, since tests copy it as soon as it exists. */
async function prepareEmbedded(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  await unpackEmptyCluster(unfinished);
  await prepare({ STEPWELL_DATA_DIR: unfinished });
  await rename(unfinished, directory);
}

/**
 * Unpacks the empty cluster that the build made, if there is one. The tests run the service from its sources, which have no such cluster beside them,
 * and PGlite takes four seconds to initialize one.
 */
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
