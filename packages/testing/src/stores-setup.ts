import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { readConfig } from "../../server/src/config.ts";
import { openStore } from "../../server/src/service.ts";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data directory at the newest schema; each test file works on a copy, since creating one takes seconds. */
    embeddedTemplate: string;
    /** Where copies of it go. */
    scratchDirectory: string;
    /** A PostgreSQL server whose database `template` is at the newest schema. */
    postgresUrl: string;
  }
}

export const templateDatabase = "stepwell_template";

let tearDown: (() => Promise<void>) | undefined;

/** Runs once before all tests of the project: makes both homes of the store, so that each test file gets its own at once. */
export async function setup(project: TestProject): Promise<void> {
  const scratchDirectory = await mkdtemp(join(tmpdir(), "stepwell-test-"));
  const embeddedTemplate = join(scratchDirectory, "template");
  const [server] = await Promise.all([startPostgres(), prepare({ STEPWELL_DATA_DIR: embeddedTemplate })]);
  tearDown = async () => {
    await server.stop();
    await rm(scratchDirectory, { recursive: true, force: true });
  };
  await server.recreate(templateDatabase);
  await prepare({ DATABASE_URL: server.urlOf(templateDatabase) });
  project.provide("embeddedTemplate", embeddedTemplate);
  project.provide("scratchDirectory", scratchDirectory);
  project.provide("postgresUrl", server.urlOf("postgres"));
}

export async function teardown(): Promise<void> {
  await tearDown?.();
}

async function prepare(environment: Record<string, string>): Promise<void> {
  const store = await openStore(readConfig(environment));
  await store.close();
}
