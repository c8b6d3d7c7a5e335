import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const store = resolve(import.meta.dirname, "../../../src/store");
/** These files are programs of their own: they run as a process and as a thread. */
const programs = /(embedded-create|statement-watch-thread)\.ts$/;

/** Loads every file of the store, so that every statement is registered. */
export async function registerStatements(): Promise<void> {
  for (const file of readdirSync(store, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".ts") && !programs.test(file)) await import(join(store, file));
  }
}
