import { randomBytes } from "node:crypto";
import pg from "pg";
import { findFreePort } from "../free-port.ts";
import { citusUrl, createOnCitus } from "./citus-server.ts";
import { PostgresCluster } from "./postgres-cluster.ts";
import { roomyMemory } from "./roomy-memory.ts";

export interface PostgresServer {
  urlOf(database: string): string;
  /** Drops the database of this name if there is one, and creates an empty one. */
  recreate(database: string): Promise<void>;
  stop(): Promise<void>;
}

/** Uses the server that STEPWELL_TEST_CITUS_URL or STEPWELL_TEST_DATABASE_URL names, or starts one for the duration of the tests. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = citusUrl ?? process.env.STEPWELL_TEST_DATABASE_URL;
  return given === undefined ? await startOwnPostgres() : serverAt(given, async () => {});
}

/** Starts a new server. The caller stops it with `stop`. */
export async function startOwnPostgres(): Promise<PostgresServer> {
  const password = randomBytes(16).toString("hex");
  const port = await findFreePort();
  // The data of these tests need not survive a crash of the machine. The servers of the chaos campaigns keep `fsync=on`.
  const settings = ["fsync=off", "max_connections=200"];
  const cluster = await PostgresCluster.create({ port, password, settings, parent: await roomyMemory() });
  // Files in memory must be removed, even when the run is aborted.
  process.once("exit", () => cluster.remove());
  await cluster.start();
  return serverAt(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`, async () => cluster.remove());
}

function serverAt(url: string, stop: () => Promise<void>): PostgresServer {
  return {
    urlOf(database) {
      const named = new URL(url);
      named.pathname = `/${database}`;
      return named.href;
    },
    async recreate(database) {
      if (url === citusUrl) return await createOnCitus(url, database);
      await onServer(url, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(database)}`);
        await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
      });
    },
    stop,
  };
}

export async function onServer<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
