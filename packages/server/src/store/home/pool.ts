import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import {
  type Database,
  DiskFullError,
  isStoreAway,
  type Queryable,
  RowHeldError,
  type Statement,
  StatementGivenUpError,
  StoreUnavailableError,
  sqlState,
  TransactionAbortedError,
  type TransactionOptions,
} from "./database.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { ShardSearch } from "./shard-search.ts";
import { isRefusedByShards, type Shards } from "./shards.ts";
import { upkeepBy } from "./upkeep.ts";

export interface PoolOptions {
  /** False behind a PgBouncer that does not support named statements. */
  readonly preparedStatements: boolean;
  /** The parts that are needed for a server that may be a Citus cluster; undefined for a store that cannot be one. */
  readonly sharding: Sharding | undefined;
  /** Whether connections of other processes can lock rows. */
  readonly isShared: boolean;
  /** The value for `Reader.sliceRows`. */
  readonly sliceRows: number | null;
  readonly room: DiskRoom;
  readonly closeHome: () => Promise<void>;
}

interface Sharding {
  readonly shards: Shards;
  readonly search: ShardSearch;
}

/** The only implementation of the store's interface. It uses node-postgres, which connects to a server and, through our own adapter, to PGlite. */
export function poolDatabase(lanes: Lanes, options: PoolOptions): Database {
  const { engine, requests, reads } = lanes;
  const shared: Omit<Database, "query" | "transaction" | "requests"> = {
    reader: (organizationId) => ({
      query: queryBy(reads.forRead(organizationId), options),
      sliceRows: options.sliceRows,
    }),
    groupOf: (organizationId) => options.sharding?.shards.groupOf(organizationId) ?? "embedded",
    async learnShards() {
      await options.sharding?.shards.learn({
        query: queryBy(engine, options),
        transaction: transactionBy(engine, options),
      });
    },
    isFull: () => options.room.isFull,
    lookForRoom: () => options.room.look(transactionBy(engine, options)),
    upkeep: upkeepBy(engine),
    async close() {
      const ended = Promise.all([...new Set([engine.pool, requests.pool, reads.pool])].map((pool) => pool.end()));
      await Promise.race([ended, delay(closeTimeoutMs, undefined, { ref: false })]);
      await options.closeHome();
    },
  };
  const ofRequests: Database = {
    ...shared,
    query: queryBy(requests, options),
    transaction: transactionBy(requests, options),
    get requests() {
      return ofRequests;
    },
  };
  return {
    ...shared,
    query: queryBy(engine, options),
    transaction: transactionBy(engine, options),
    requests: ofRequests,
  };
}

/** The longest time in milliseconds for which a stopping node waits for its connections: a connection that hangs may never be given back. */
const closeTimeoutMs = 5_000;

function queryBy(lane: Lane, options: PoolOptions): Database["query"] {
  const query: Database["query"] = async (statement, values) => {
    if (statement.scope === "maintenance" && options.sharding?.shards.isSharded === true) {
      return await options.sharding.search.run({ query }, statement, values);
    }
    try {
      return await lane.run(() => runAlone(lane, statement, values, options));
    } catch (error) {
      const meaning = meaningOf(error, "nothing-written");
      options.room.note(meaning);
      // A single statement commits by itself. So when its answer is lost, it is unknown whether it was committed.
      const mayBeWritten = isStoreAway(meaning) && !statement.text.startsWith("SELECT");
      throw mayBeWritten ? new StoreUnavailableError("unknown", error) : meaning;
    }
  };
  return query;
}

function transactionBy(lane: Lane, options: PoolOptions): Database["transaction"] {
  return (work, bounds = {}) =>
    lane.run(async () => {
      const client = await connect(lane.pool);
      const settings = lane.settingsOf?.(client) ?? [];
      const failures: unknown[] = [];
      const begun = begin(client, options, failures, { ...bounds, settings });
      try {
        const result = await work(begun).finally(begun.end);
        await commit(client);
        client.release();
        return result;
      } catch (error) {
        // Statements are sent together. So the statements after a failed one only report that an earlier one failed.
        const isAfterFailure = sqlState(error) === "25P02" && failures.length > 0;
        const meaning = meaningOf(isAfterFailure ? failures[0] : error, "nothing-written");
        options.room.note(meaning);
        await giveBack(client, meaning);
        throw (await areShardsOther(lane, options, meaning)) ? new TransactionAbortedError(meaning) : meaning;
      }
    });
}

/** Whether a Citus cluster refused a transaction and its shards have changed. After a split, organizations of one group may be on several shards. */
async function areShardsOther(lane: Lane, options: PoolOptions, error: unknown): Promise<boolean> {
  if (options.sharding === undefined || !isRefusedByShards(error)) return false;
  const db = { query: (statement, values) => run(lane.pool, statement, values, options) } satisfies Queryable;
  return await options.sharding.shards.relearn(db).catch(() => false);
}

/** Runs a single statement outside of a transaction. If the session does not keep the settings of its lane, sets them for the statement. */
async function runAlone<Row>(
  lane: Lane,
  statement: Statement<Row>,
  values: readonly unknown[],
  options: PoolOptions,
): Promise<Row[]> {
  if (lane.settingsOf === undefined) return await run(lane.pool, statement, values, options);
  const client = await connect(lane.pool);
  try {
    const settings = lane.settingsOf(client);
    const ask = () => run(client, statement, values, options);
    const rows = await (settings.length === 0 ? ask() : askWith(client, settings, ask));
    client.release();
    return rows;
  } catch (error) {
    client.release(isStoreAway(meaningOf(error, "nothing-written")));
    throw error;
  }
}

/** Runs a statement in a transaction of its own with these settings. All messages are sent together, so that no round trip is added. */
async function askWith<Row>(
  client: pg.PoolClient,
  settings: readonly string[],
  ask: () => Promise<Row[]>,
): Promise<Row[]> {
  const begun = asked(client.query(["BEGIN", ...settings].join("; ")));
  const answer = ask();
  const committed = asked(client.query("COMMIT"));
  const failed = (await Promise.allSettled([answer, begun, committed])).find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return await answer;
}

async function run<Row>(
  target: pg.Pool | pg.PoolClient,
  statement: Statement<Row>,
  values: readonly unknown[],
  { preparedStatements }: PoolOptions,
): Promise<Row[]> {
  const query = { text: statement.text, values: [...values] };
  const named = preparedStatements && statement.planned === "once" ? { ...query, name: statement.name } : query;
  const result = await asked(target.query<pg.QueryResultRow>(named));
  return result.rows as Row[];
}

/** Begins a transaction. BEGIN is sent together with the first read; a write waits until the transaction is known to have begun. */
function begin(
  client: pg.PoolClient,
  options: PoolOptions,
  failures: unknown[],
  { lockTimeoutMs, isKeyed = false, settings }: TransactionOptions & { readonly settings: readonly string[] },
): Queryable & { readonly end: () => void } {
  const isSharded = options.sharding?.shards.isSharded === true;
  // The settings apply to this transaction alone, because a connection pooler may give each transaction another session.
  const all = [
    ...settings,
    // The rows are locked on the Citus workers. The coordinator passes a setting on to them only when it is asked to.
    ...(isSharded ? ["SET LOCAL citus.propagate_set_commands = 'local'"] : []),
    ...(lockTimeoutMs !== undefined && options.isShared ? [`SET LOCAL lock_timeout = ${lockTimeoutMs}`] : []),
    // A Citus cluster must see the values to choose the shard. It refuses a generic plan (0A000).
    ...(isKeyed && !isSharded ? ["SET LOCAL plan_cache_mode = force_generic_plan"] : []),
  ];
  const begun = asked(client.query(["BEGIN ISOLATION LEVEL READ COMMITTED", ...all].join("; ")));
  begun.catch(() => {});
  let isOver = false;
  return {
    end: () => {
      isOver = true;
    },
    async query(statement, values) {
      if (!statement.text.startsWith("SELECT")) await begun;
      // When one of several parts of the work fails, the others may send statements after the rollback. Each of these statements would commit by
      // itself.
      if (isOver) throw new Error("The transaction is over.");
      const answer = run(client, statement, values, options);
      answer.catch((error: unknown) => failures.push(error));
      const [rows] = await Promise.all([answer, begun]);
      return rows;
    },
  };
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new StoreUnavailableError("nothing-written", error);
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  const result = await client.query("COMMIT").catch((error: unknown) => {
    throw meaningOf(error, "unknown");
  });
  // A transaction that failed earlier answers COMMIT with ROLLBACK and without an error. Then it is certain that nothing was written.
  if (result.command === "ROLLBACK") throw new Error("The transaction had failed and was rolled back.");
}

/**
 * Gives a client back to the pool. A client whose connection may be broken is destroyed, so that the pool replaces it. A client whose statement the
 * server gave up is kept, because a destroyed session would keep its locks until the server notices.
 */
async function giveBack(client: pg.PoolClient, error: unknown): Promise<void> {
  if (isStoreAway(error)) {
    client.release(true);
    return;
  }
  try {
    await client.query("ROLLBACK");
    client.release();
  } catch {
    client.release(true);
  }
}

/**
 * Classifies errors by SQLSTATE, never by text or constraint name. After a COMMIT only a definite answer (40xxx, 23xxx) says that nothing was
 * written; after any other error the outcome is unknown.
 */
function meaningOf(error: unknown, fate: "nothing-written" | "unknown"): unknown {
  if (error instanceof StoreUnavailableError || error instanceof TransactionAbortedError) return error;
  const state = sqlState(error);
  if (state === "40001" || state === "40P01") return new TransactionAbortedError(error);
  if (fate === "unknown" && !state?.startsWith("23") && !state?.startsWith("40")) {
    return new StoreUnavailableError("unknown", error);
  }
  if (state === undefined) return error;
  if (state === "53100") return new DiskFullError(error);
  if (state === "55P03") return new RowHeldError(error);
  if (givenUp.test(state)) return new StatementGivenUpError(error);
  return connectionTrouble.test(state) ? new StoreUnavailableError(fate, error) : error;
}

/**
 * A statement that the server gave up. The statement was cancelled, mostly because of its time limit (57014); or the server lacked memory or another
 * resource (53); or a file or a page of a table could not be read (58, XX001). Unreadable data may concern a single row, while the server still
 * returns all others.
 */
const givenUp = /^(57014|53|58|XX001)/;

/**
 * Class 08: connection exception; 57P: administrator or crash shutdown; 25006: read-only after a failover; 25P03 and 25P04: a session that the server
 * ended because its transaction was idle or took too long; 28 and 3D: a server that accepts nobody, as some do during a switchover.
 */
const connectionTrouble = /^(08|57P|25006|25P0[34]|28|3D)/;

/**
 * Turns the driver's errors without a SQLSTATE into `StoreUnavailableError`. Such errors do not come from the database. They mean a lost socket, a
 * timeout, or a client that was closed meanwhile. The driver has many texts for them and no error class. The only other errors without a SQLSTATE are
 * our own mistakes in values, which are a TypeError or a RangeError.
 */
async function asked<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    const isOurMistake = error instanceof TypeError || error instanceof RangeError;
    if (isOurMistake || sqlState(error) !== undefined) throw error;
    throw new StoreUnavailableError("nothing-written", error);
  }
}

/** Converts PostgreSQL's text to JavaScript: times to milliseconds since 1970, `bigint` and `numeric` to numbers (ours are all small). */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return parseTimestamp;
    if (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC) return Number;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

/** Parses a time such as `2026-01-31 12:00:00.123+00`, or `…+05:30` in another session time zone. */
function parseTimestamp(text: string): number {
  const withMinutes = /[+-]\d\d$/.test(text) ? `${text}:00` : text;
  return Date.parse(withMinutes.replace(" ", "T"));
}
