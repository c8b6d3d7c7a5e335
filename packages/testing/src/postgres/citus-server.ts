import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/**
 * A real Citus cluster for the tests. STEPWELL_TEST_CITUS_URL names its coordinator, and STEPWELL_TEST_CITUS_WORKERS its workers
 * (`host:port,host:port`), which take the same user and password. A database of Citus is one database with the same name on each server, so a
 * template is copied on each server.
 */
export const citusUrl = process.env.STEPWELL_TEST_CITUS_URL;

const workers = (process.env.STEPWELL_TEST_CITUS_WORKERS ?? "").split(",").filter((address) => address !== "");
/** There are few shards, so that a copy has few tables. */
const shardCount = 4;

/** Creates an empty database with Citus on every server. */
export async function createOnCitus(url: string, name: string): Promise<void> {
  await dropOnCitus(url, name);
  for (const server of serversOf(url)) {
    await ask(server, "postgres", [`CREATE DATABASE ${name}`]);
    await ask(server, name, ["CREATE EXTENSION citus"]);
  }
  const { hostname, port } = new URL(url);
  await ask(url, name, [
    `SELECT citus_set_coordinator_host('${hostname}', ${port || 5432})`,
    ...workers
      .map((address) => new URL(`postgres://${address}`))
      .map((at) => `SELECT citus_add_node('${at.hostname}', ${at.port || 5432})`),
    `ALTER DATABASE ${name} SET citus.shard_count = ${shardCount}`,
  ]);
}

/** Closes a template on every server. Citus keeps connections of its own to each database, and PostgreSQL copies no database that is in use. */
export async function sealOnCitus(url: string, name: string): Promise<void> {
  for (const server of serversOf(url)) {
    await ask(server, "postgres", [
      `UPDATE pg_database SET datallowconn = false WHERE datname = '${name}'`,
      endSessions(name),
    ]);
  }
}

export async function copyOnCitus(url: string, name: string, template: string): Promise<void> {
  const copy = [endSessions(template), `CREATE DATABASE ${name} TEMPLATE ${template}`];
  await Promise.all(serversOf(url).map((server) => whenFree(() => ask(server, "postgres", copy))));
  await ask(url, "postgres", [`ALTER DATABASE ${name} SET citus.shard_count = ${shardCount}`]);
}

export async function dropOnCitus(url: string, name: string): Promise<void> {
  const open = `UPDATE pg_database SET datallowconn = true WHERE datname = '${name}'`;
  for (const server of serversOf(url))
    await ask(server, "postgres", [open, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`]);
}

/** Returns the URLs of the coordinator and of all workers, each with the coordinator's user. */
function serversOf(url: string): string[] {
  return [url, ...workers.map((address) => Object.assign(new URL(url), { host: address }).href)];
}

function endSessions(name: string): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
}

async function ask(url: string, database: string, texts: readonly string[]): Promise<void> {
  const client = new pg.Client(Object.assign(new URL(url), { pathname: `/${database}` }).href);
  await client.connect();
  try {
    for (const text of texts) await client.query(text);
  } finally {
    await client.end();
  }
}

/**
 * Repeats the copy until the template is free: PostgreSQL copies a template for one client at a time, and Citus may have opened the template again.
 */
async function whenFree(copy: () => Promise<void>): Promise<void> {
  for (let left = 60; ; left -= 1) {
    try {
      await copy();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await delay(100 + Math.random() * 100);
    }
  }
}
