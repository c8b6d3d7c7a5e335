import pg from "pg";
import type { Database } from "./database.ts";
import { DiskRoom } from "./disk-room.ts";
import { type Lane, ownLane, ReadLane } from "./lanes.ts";
import { columnTypes, poolDatabase } from "./pool.ts";
import { ShardSearch } from "./shard-search.ts";
import { Shards, type Worker } from "./shards.ts";

export interface PostgresOptions {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  readonly readTimeoutMs: number;
  readonly preparedStatements: boolean;
  /** Called with the errors of connections that break while idle; the pool replaces them. */
  readonly onConnectionLost: (error: Error) => void;
  /** Called for each connection that leads to a connection pooler instead of the server. */
  readonly onPooler: () => void;
  /** Called when the store's disk becomes full, and when it has room again. */
  readonly onFull: (isFull: boolean) => void;
  /** Called with the reason when a worker of a Citus cluster does not answer a search, and with undefined when the worker answers again. */
  readonly onWorker: (worker: Worker, trouble: string | undefined) => void;
}

/** The store on a PostgreSQL server (15 or newer), or on the coordinator of a Citus cluster. It connects on first use. */
export function openPostgres(options: PostgresOptions): Database {
  const { poolSize, timeoutMs, readTimeoutMs } = options;
  const connections = laneSizes(poolSize);
  const reads = ownLane(openPool(options, connections.reads, readTimeoutMs));
  const bounds = {
    maxRunning: connections.reads,
    maxRunningPerOrganization: Math.ceil(connections.reads / 2),
    deadlineMs: readTimeoutMs,
  };
  const lanes = {
    engine: ownLane(openPool(options, connections.engine, timeoutMs)),
    requests: ownLane(openPool(options, connections.requests, timeoutMs)),
    reads: new ReadLane(reads, bounds),
  };
  const shards = new Shards();
  return poolDatabase(lanes, {
    preparedStatements: options.preparedStatements,
    sharding: { shards, search: new ShardSearch({ shards, onWorker: options.onWorker }) },
    isShared: true,
    sliceRows: null,
    room: new DiskRoom(options.onFull),
    closeHome: async () => {},
  });
}

/** Divides the connections: a third for the engine, a quarter for reads that may be long, the rest for requests. Each gets at least one. */
export function laneSizes(poolSize: number): { engine: number; requests: number; reads: number } {
  const engine = Math.max(1, Math.floor(poolSize / 3));
  const reads = Math.max(1, Math.floor(poolSize / 4));
  return { engine, requests: poolSize - engine - reads, reads };
}

function openPool(options: PostgresOptions, size: number, statementTimeoutMs: number): Required<Omit<Lane, "run">> {
  const settings = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: options.timeoutMs,
  };
  const pooled = new WeakSet<object>();
  const pool = new pg.Pool({
    connectionString: withStrictTls(options.databaseUrl),
    max: size,
    application_name: "stepwell",
    connectionTimeoutMillis: Math.min(options.timeoutMs, 3_000),
    // The server should end a statement that takes too long. This timeout is for a server that does not answer at all.
    query_timeout: statementTimeoutMs + 500,
    // Statements are sent without waiting for the answers to earlier ones.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: columnTypes,
    // After a failover, a new connection may lead to the old primary or to a standby. A connection that cannot write is not used.
    verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
      const { processID } = client as unknown as { readonly processID: number | null };
      client.query<{ recovering: boolean; isOwn: boolean }>(lookAtSession(processID ?? 0, settings)).then(
        ({ rows: [row] }) => {
          if (row?.isOwn === false) {
            pooled.add(client);
            options.onPooler();
          }
          done(row?.recovering === true ? standbyError() : undefined);
        },
        (error: Error) => done(error),
      );
    },
  } as pg.PoolConfig);
  pool.on("error", options.onConnectionLost);
  // The pool listens only to idle clients. When a client breaks in use, its query is rejected, but its error event would end the process if nothing
  // listened to it.
  pool.on("connect", (client) => client.on("error", () => {}));
  const local = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  return { pool, settingsOf: (client) => (pooled.has(client) ? local : []) };
}

/**
 * Asks whether the server is a standby, and whether the session belongs to this client alone. If it does, the same statement sets the settings. They
 * are not in the message that opens the connection, because a pooler refuses them there. A session of a pooler gets no settings, because they
 * would still be set when another client gets the session. `processId` tells a pooler from a server: a pooler invents this number for each client, so
 * it is not the session's.
 */
function lookAtSession(processId: number, settings: Readonly<Record<string, number>>): string {
  const isOwn = `pg_backend_pid() = ${processId}`;
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `SELECT pg_is_in_recovery() AS recovering, ${isOwn} AS "isOwn", CASE WHEN ${isOwn} THEN concat(${set.join(", ")}) END`;
}

/**
 * Makes TLS strict. The driver treats the modes prefer, require and verify-ca as verify-full, but warns on standard error that this may change. So
 * the mode is replaced here. An address with `uselibpqcompat` stays as it is.
 */
function withStrictTls(databaseUrl: string): string {
  return databaseUrl.includes("uselibpqcompat=")
    ? databaseUrl
    : databaseUrl.replace(/([?&]sslmode=)(prefer|require|verify-ca)\b/, "$1verify-full");
}

function standbyError(): Error {
  return Object.assign(new Error("The server is a standby and accepts no writes."), { code: "25006" });
}
