import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "../free-port.ts";
import { PostgresCluster } from "../postgres/postgres-cluster.ts";
import { own } from "./owned.ts";

/** A server on which databases can be made for this run. */
export interface DatabaseServer {
  /** Returns the new database's URL. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** A server that this run did not start. This run creates and drops only its own databases there. */
export function externalServer(url: string): DatabaseServer {
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    createDatabase: async (name) => {
      await run(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
      const created = new URL(url);
      created.pathname = `/${name}`;
      return created.href;
    },
    dropDatabase: (name) => run(`DROP DATABASE ${pg.escapeIdentifier(name)} WITH (FORCE)`),
    stop: async () => {},
  };
}

/** Starts PostgreSQL 18 from npm in a temporary directory. The server has the default durability (`fsync=on`), unless a setting changes that. */
export async function startPostgresServer(settings: readonly string[] = []): Promise<PostgresServer> {
  const port = await findFreePort();
  const cluster = await PostgresCluster.create({ port, password, settings });
  const server = new PostgresServer(cluster, port);
  await server.start();
  return server;
}

const password = "password";

export class PostgresServer implements DatabaseServer {
  readonly #cluster: PostgresCluster;
  readonly #databases: DatabaseServer;
  readonly #release: () => void;

  constructor(cluster: PostgresCluster, port: number) {
    this.#cluster = cluster;
    this.#databases = externalServer(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
    this.#release = own(() => {
      this.#killAll();
      cluster.remove();
    });
  }

  /** Starts the server, even after a crash. */
  async start(): Promise<void> {
    await this.#cluster.start();
  }

  createDatabase(name: string): Promise<string> {
    return this.#databases.createDatabase(name);
  }

  async dropDatabase(): Promise<void> {
    // Nothing to do: the server's whole directory is deleted when the server is stopped.
  }

  async stop(): Promise<void> {
    await this.crash();
    this.#release();
  }

  /** Kills every process of the server, as a crash of its machine would. Unlike such a crash, it loses no data in the system's disk cache. */
  async crash(): Promise<void> {
    const killed = this.#killAll();
    // While one of these processes is alive, the shared memory is in use, and a new postmaster does not start.
    for (let attempt = 0; attempt < 500 && killed.some(isAlive); attempt += 1) await sleep(10);
  }

  /** Makes the server hang: connections stay open and new ones are accepted, but nothing is answered until it continues. */
  freeze(): void {
    this.#signalAll("SIGSTOP");
  }

  thaw(): void {
    this.#signalAll("SIGCONT");
  }

  #killAll(): readonly number[] {
    return this.#signalAll("SIGKILL");
  }

  #signalAll(signal: NodeJS.Signals): readonly number[] {
    const postmaster = this.#cluster.pid;
    if (postmaster === undefined) return [];
    // The postmaster is suspended first, so that it neither starts new processes nor ends before its children are known.
    signalProcess(postmaster, "SIGSTOP");
    const pids = [postmaster, ...childrenOf(postmaster)];
    for (const pid of pids) signalProcess(pid, signal);
    return pids;
  }
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return (stdout ?? "").split("\n").filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  return signalProcess(pid, 0);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
