import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, inject, vi } from "vitest";
import { newDatabase } from "./postgres/own-database.ts";
import { scope } from "./scope.ts";

/** One of the two homes that tests have for a store. The stores that it makes are empty and at the newest schema. */
export interface StoreHome {
  readonly name: "embedded" | "postgres";
  /** Makes a fresh store of this home. Returns the settings that choose it, and a function that removes it again. */
  prepare(): Promise<PreparedStore>;
}

export interface PreparedStore {
  readonly environment: Record<string, string>;
  remove(): Promise<void>;
}

const embeddedHome: StoreHome = { name: "embedded", prepare: copyEmbedded };
/** PostgreSQL also serves tests of several nodes, which are not possible on the embedded store. */
export const postgresHome: StoreHome = { name: "postgres", prepare: copyDatabase };

/**
 * Runs the same tests on both homes of the store, side by side in the report. It is for subjects in which the homes can differ: jobs, idempotency,
 * transactions and statements. The quick loop has one home.
 */
export function onEveryStore(tests: (home: StoreHome) => void): void {
  onHomes(scope === "quick" ? [postgresHome] : [embeddedHome, postgresHome], tests);
}

/**
 * Runs tests on one home of the store, or on both in the whole matrix (`npm run test:all`). It is for rules that do not depend on the store. The one
 * home is PostgreSQL: its transactions really run side by side, while the embedded store has one connection. A service on PostgreSQL also takes only
 * half of the processor time.
 */
export function onOneStore(tests: (home: StoreHome) => void): void {
  onHomes(scope === "all" ? [embeddedHome, postgresHome] : [postgresHome], tests);
}

function onHomes(homes: readonly StoreHome[], tests: (home: StoreHome) => void): void {
  describe.each(homes.map((home) => [home.name, home] as const))("on the %s store", (_name, home) => tests(home));
}

/** Copies an empty embedded store at the newest schema into this data directory, since creating one takes seconds. */
export async function layEmbeddedStore(dataDirectory: string): Promise<void> {
  // The mode avoids the warning about a directory that others may read.
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const template = inject("embeddedTemplate");
  await vi.waitUntil(() => existsSync(template), { timeout: 60_000, interval: 20 });
  await cp(join(template, "postgres"), join(dataDirectory, "postgres"), { recursive: true });
}

async function copyEmbedded(): Promise<PreparedStore> {
  const directory = join(inject("scratchDirectory"), randomBytes(6).toString("hex"));
  await layEmbeddedStore(directory);
  return {
    environment: { STEPWELL_DATA_DIR: directory },
    // The synchronous function takes less processor time, and a store has a thousand files.
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function copyDatabase(): Promise<PreparedStore> {
  const { url, remove } = await newDatabase("newest");
  return { environment: { DATABASE_URL: url }, remove };
}
