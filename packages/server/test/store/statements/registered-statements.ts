import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Statement, statements } from "../../../src/store/home/database.ts";

const store = resolve(import.meta.dirname, "../../../src/store");
/** These files are programs of their own: the first runs as a process, and the second as a thread. */
const programs = /(embedded-create|statement-watch-thread)\.ts$/;

/** Loads every file of the store, and returns all statements of the service. The name of a statement that belongs to a test begins with `test_`. */
export async function registerStatements(): Promise<readonly Statement<unknown>[]> {
  for (const file of readdirSync(store, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".ts") && !programs.test(file)) await import(join(store, file));
  }
  return [...statements.values()].filter(({ name }) => !name.startsWith("test_"));
}
