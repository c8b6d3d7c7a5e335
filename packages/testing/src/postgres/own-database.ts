import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";
import { citusUrl, copyOnCitus, createOnCitus, dropOnCitus } from "./citus-server.ts";
import { onServer } from "./postgres-server.ts";
import { templateDatabase } from "./stores-setup.ts";

export interface OwnDatabase {
  readonly url: string;
  /** Drops the database, even while clients are connected. */
  remove(): Promise<void>;
}

/** Makes a database on the tests' PostgreSQL server that only the caller uses: without any table, or at the newest schema. */
export async function newDatabase(content: "empty" | "newest"): Promise<OwnDatabase> {
  const server = inject("postgresUrl");
  const name = `stepwell_${randomBytes(6).toString("hex")}`;
  if (citusUrl !== undefined) {
    await (content === "empty" ? createOnCitus(server, name) : copyOnCitus(server, name, templateDatabase));
  } else {
    const template = content === "empty" ? "template0" : templateDatabase;
    await whenFree(() => onServer(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)));
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async remove() {
      if (citusUrl !== undefined) await dropOnCitus(server, name);
      else await onServer(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

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
