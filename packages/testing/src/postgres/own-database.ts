import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { inject } from "vitest";
import { once } from "../../../server/src/core/once.ts";
import { citusUrl, copyOnCitus, createOnCitus, dropOnCitus } from "./citus-server.ts";
import { templateDatabase } from "./stores-setup.ts";

export interface OwnDatabase {
  readonly url: string;
  /** Drops the database, even while clients are connected. */
  remove(): Promise<void>;
}

/**
 * Makes a database on the tests' PostgreSQL server, for the caller alone. With the content "newest" it has the newest schema, otherwise it has no
 * table. Its locale is C. Only the content "empty, in Unicode" gives it another locale, which knows the upper and lower case of all letters.
 */
export async function newDatabase(content: "empty" | "empty, in Unicode" | "newest"): Promise<OwnDatabase> {
  const server = inject("postgresUrl");
  const name = `stepwell_${randomBytes(6).toString("hex")}`;
  if (citusUrl !== undefined) {
    await (content === "newest" ? copyOnCitus(server, name, templateDatabase) : createOnCitus(server, name));
  } else {
    const template = content === "newest" ? templateDatabase : "template0";
    const locale = content === "empty, in Unicode" ? "LC_CTYPE 'C.UTF-8'" : "";
    // A copy of the files takes less processor time than a copy through the log, which is PostgreSQL's default.
    const create = `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy ${locale}`;
    await whenFree(() => administration().query(create));
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async remove() {
      if (citusUrl !== undefined) await dropOnCitus(server, name);
      else await administration().query(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/**
 * The connection over which this process creates and drops its databases. It is kept, since the server starts a process for each connection. It does
 * not keep this process alive.
 */
const administration = once(() => {
  const pool = new pg.Pool({
    connectionString: inject("postgresUrl"),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  // The server may end before this process.
  pool.on("error", () => {});
  return pool;
});

/** Repeats the copy until the template is free: PostgreSQL copies a template for one client at a time, and other test files copy it as well. */
async function whenFree(copy: () => Promise<unknown>): Promise<void> {
  for (let left = 50; ; left -= 1) {
    try {
      await copy();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await delay(100);
    }
  }
}
