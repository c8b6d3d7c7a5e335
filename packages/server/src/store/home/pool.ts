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

export interface PoolOptions {
  /** False behind a PgBouncer that breaks named statements. */
  readonly preparedStatements: boolean;
  readonly groupOf: (organizationId: string) => string;
  /** Whether other connections than this one can hold rows. */
  readonly isShared: boolean;
  /** `Reader.sliceRows`. */
  readonly sliceRows: number | null;
  readonly room: DiskRoom;
  readonly closeHome: () => Promise<void>;
}

/** The one implementation of the port: node-postgres, which speaks to a server and (through its own adapter) to PGlite alike. */
export function poolDatabase(lanes: Lanes, options: PoolOptions): Database {
  const { engine, requests, reads } = lanes;
  const shared: Omit<Database, "query" | "transaction" | "requests"> = {
    reader: (organizationId) => ({
      query: queryBy(reads.forRead(organizationId), options),
      sliceRows: options.sliceRows,
    }),
    groupOf: options.groupOf,
    isFull: () => options.room.isFull,
    lookForRoom: () => options.room.look(transactionBy(engine, options)),
    async vacuum(table) {
      await engine.run(() => engine.pool.query(`VACUUM (ANALYZE) ${pg.escapeIdentifier(table)}`));
    },
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

/** A node that stops does not wait for longer: a connection that hangs may never be given back. */
const closeTimeoutMs = 5_000;

function queryBy(lane: Lane, options: PoolOptions): Database["query"] {
  return async (statement, values) => {
    try {
      return await lane.run(() => runAlone(lane, statement, values, options));
    } catch (error) {
      const meaning = meaningOf(error, "nothing-written");
      options.room.note(meaning);
      // A statement alone commits by itself: when its answer is lost, so is the knowledge whether it did.
      const mayBeWritten = isStoreAway(meaning) && !statement.text.startsWith("SELECT");
      throw mayBeWritten ? new StoreUnavailableError("unknown", error) : meaning;
    }
  };
}

function transactionBy(lane: Lane, options: PoolOptions): Database["transaction"] {
  return (work, bounds = {}) =>
    lane.run(async () => {
      const client = await connect(lane.pool);
      const settings = lane.settingsOf?.(client) ?? [];
      const failures: unknown[] = [];
      try {
        const result = await work(begin(client, options, failures, { ...bounds, settings }));
        await commit(client);
        client.release();
        return result;
      } catch (error) {
        // Statements go out together: those after the one that failed say only that another one did.
        const isAfterFailure = sqlState(error) === "25P02" && failures.length > 0;
        const meaning = meaningOf(isAfterFailure ? failures[0] : error, "nothing-written");
        options.room.note(meaning);
        await giveBack(client, meaning);
        throw meaning;
      }
    });
}

/** A statement by itself, in a session with its settings. */
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

/** Asks in a transaction of its own with these settings. All of it goes out together, so that it costs no round trip more. */
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

/** BEGIN goes out together with the first read; what writes waits until the transaction is known to have begun. */
function begin(
  client: pg.PoolClient,
  options: PoolOptions,
  failures: unknown[],
  { lockTimeoutMs, isKeyed = false, settings }: TransactionOptions & { readonly settings: readonly string[] },
): Queryable {
  // Settings of this transaction alone: a connection pooler gives each transaction another session.
  const all = [
    ...settings,
    ...(lockTimeoutMs !== undefined && options.isShared ? [`SET LOCAL lock_timeout = ${lockTimeoutMs}`] : []),
    ...(isKeyed ? ["SET LOCAL plan_cache_mode = force_generic_plan"] : []),
  ];
  const begun = asked(client.query(["BEGIN", ...all].join("; ")));
  begun.catch(() => {});
  return {
    async query(statement, values) {
      if (!statement.text.startsWith("SELECT")) await begun;
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
  // A transaction that failed before answers COMMIT with ROLLBACK and no error: nothing was written, and that is certain.
  if (result.command === "ROLLBACK") throw new Error("The transaction had failed and was rolled back.");
}

/**
 * A client whose connection may be broken is destroyed, so that the pool replaces it. One whose statement the server gave up is not: its session would hold its
 * locks until the server finds out that it is gone.
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
 * Sorts errors by SQLSTATE, never by text or constraint name. Of a COMMIT only a definite answer (40xxx, 23xxx) says that
 * nothing was written; any other error leaves its fate unknown.
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

/** A statement that was cancelled, mostly by its time; too little memory, or another bound of the server. */
const givenUp = /^(57014|53)/;

/**
 * Class 08 connection exception, 57P administrator or crash shutdown, 25006 read-only after a failover, 25P03 and 25P04 a
 * session that the server ended for its idleness, 28 and 3D a server that lets nobody in, as some do while they change over, 58 I/O.
 */
const connectionTrouble = /^(08|57P|25006|25P0[34]|28|3D|58|XX001)/;

/**
 * What the driver throws without a SQLSTATE did not come from the database: a lost socket, a time-out, a client that was closed meanwhile. It has
 * many words for that and no class. Our own mistakes in values are the only others, and have one.
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

/** PostgreSQL's text to JavaScript: times as milliseconds since 1970, 64-bit integers as numbers (all of ours are small). */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return parseTimestamp;
    if (oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC) return Number;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

/** From `2026-01-31 12:00:00.123+00`, or with another session time zone `…+05:30`. */
function parseTimestamp(text: string): number {
  const withMinutes = /[+-]\d\d$/.test(text) ? `${text}:00` : text;
  return Date.parse(withMinutes.replace(" ", "T"));
}
