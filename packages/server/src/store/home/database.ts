/**
 * The interface of the store. All of its SQL is PostgreSQL's. `embedded.ts` opens the embedded store, and `postgres.ts` opens a PostgreSQL server or
 * a Citus cluster. Statements are named values for two reasons: the server can use the plan of a named statement again on the same connection, and a
 * test can check all statements against the rules of `docs/internals/store.md`.
 */
export interface Database extends Queryable {
  /** The lane for requests, which look up credentials and change resources. Commits, heartbeats and duties never wait in its line. */
  readonly requests: Database;
  /**
   * The lane for one read that may be long, such as that of a list, a history or a metric. The number of such reads at a time is bounded, and
   * organizations take turns. The queue gauges have turns too, like one more organization. The time limit begins with this call. A statement that
   * begins after the limit, or takes too long, throws `ReadDeadlineError`.
   */
  reader(organizationId: string): Reader;
  /** Runs `work` in one transaction at READ COMMITTED: commits when it returns, rolls back when it throws. */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * Returns the group of the organization. One transaction can change organizations of one group only. The embedded store and a PostgreSQL server
   * have a single group; a Citus cluster has one for each shard.
   */
  groupOf(organizationId: string): string;
  /** Learns which shards the store has, if any. Call it once: as soon as the schema exists, and before anything else. */
  learnShards(): Promise<void>;
  /** True after a statement failed because the store's disk was full, until `lookForRoom` finds room. */
  isFull(): boolean;
  /** Checks whether the disk has room again. Call it while `isFull` is true. */
  lookForRoom(): Promise<void>;
  readonly upkeep: Upkeep;
  close(): Promise<void>;
}

/**
 * The work that the background processes of a server do for its databases. The embedded store has no such processes, so the service does it itself.
 */
export interface Upkeep {
  /** Removes the dead rows of a table, and counts the living rows for the query planner. */
  vacuum(table: string): Promise<void>;
  /**
   * Freezes the table with the oldest rows if these rows are more than this many transactions old. The table may be a system table. A row that is
   * never frozen can no longer be seen 2^31 transactions after it was written.
   */
  freezeOldest(transactions: number): Promise<void>;
  /**
   * Runs a checkpoint if the log since the last checkpoint has more than this many bytes. A checkpoint removes the log before it. Without
   * checkpoints, the log would fill the disk, and the whole log would be replayed after a crash.
   */
  checkpointAbove(bytes: number): Promise<void>;
}

export interface Queryable {
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

export type Transaction = Queryable;

/**
 * The lock timeout in milliseconds for transactions that should not wait long for a locked row. It is long enough for the commit of another node, and
 * too short for users to notice.
 */
export const shortLockTimeoutMs = 50;

export interface TransactionOptions {
  /**
   * The time for which a statement waits for a row that another transaction has locked, before it throws `RowHeldError`. By default, only the
   * time limit of the statement ends the wait.
   */
  readonly lockTimeoutMs?: number;
  /**
   * True for a transaction in which every statement names its rows by keys. Each statement is then planned once per connection, except on a
   * Citus cluster. Without this, PostgreSQL plans most of them each time, because it estimates a generic plan as more expensive.
   */
  readonly isKeyed?: boolean;
}

export interface Reader extends Queryable {
  /**
   * The largest number of rows that one statement should look at, for a store in which a statement blocks everybody else. A search over more rows
   * uses several statements. Null when other users have connections of their own.
   */
  readonly sliceRows: number | null;
}

/** One SQL statement. `Row` is the type of its result rows, with the columns named as in the code (`"jobId"`). */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly scope: Scope;
  readonly planned: "once" | "each-time";
  /** How the answers of several servers are merged into one. When it is left out, the servers' rows are taken by turns. */
  readonly merged?: Merged | undefined;
  /** This field is never set; it only ties the type `Row` to the statement. */
  readonly row?: Row;
}

/** How the service runs a search over all organizations when each server answers it separately. */
export interface Merged {
  /** The columns by which the rows are ordered, all ascending. Needed when the next search begins after the last row of this one. */
  readonly order?: readonly string[];
  /** The columns whose values are times. */
  readonly times?: readonly string[];
  /** The time in milliseconds for which a search rests after it found nothing. New rows may be found that much later. */
  readonly restMs?: number;
  /** True for a search that must fail when one server does not answer. Any other search then leaves out the organizations of that server. */
  readonly whole?: boolean;
}

/**
 * - `organization`: the statement names the organization in the WHERE or VALUES of every table, so that it goes to one shard.
 * - `global`: the statement reads or writes small tables that belong to no organization and have keys of their own (users, nodes), or
 *   none of the service's tables.
 * - `maintenance`: the statement reads rows of all organizations. Maintenance duties, the readers of the nodes' metrics, the start of a node and the
 *   check of the audit trail run such statements.
 */
export type Scope = "organization" | "global" | "maintenance";

const registered = new Map<string, Statement<unknown>>();

/** Every statement of the service, for the test that reads them. */
export const statements: ReadonlyMap<string, Statement<unknown>> = registered;

/**
 * `planned` says when the statement is planned. "once" (per connection) is right for statements with keys. With "each-time" the planner sees the
 * values, which suits searches with optional filters.
 */
export function statement<Row>(
  name: string,
  scope: Scope,
  text: string,
  planned: "once" | "each-time" = "once",
  merged?: Merged,
): Statement<Row> {
  if (registered.has(name)) throw new Error(`Two statements are named ${name}.`);
  const created: Statement<Row> = { name, scope, text: text.trim(), planned, merged };
  registered.set(name, created);
  return created;
}

/** Thrown when the store cannot be reached or did not answer in time. `fate` says whether a write may have landed. */
export class StoreUnavailableError extends Error {
  readonly fate: "nothing-written" | "unknown";

  constructor(fate: "nothing-written" | "unknown", cause: unknown) {
    super(`The store is out of reach: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreUnavailableError";
    this.fate = fate;
  }
}

/**
 * Thrown when the database gave up a statement because it took too long (57014), because memory, disk or another resource ran out (class 53), or
 * because data could not be read (class 58, XX001). Nothing was written. A smaller statement may succeed.
 */
export class StatementGivenUpError extends StoreUnavailableError {
  constructor(cause: unknown) {
    super("nothing-written", cause);
    this.name = "StatementGivenUpError";
    this.message = `The database gave up a statement: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

/** Thrown when the disk of the store is full (53100). Nothing was written. */
export class DiskFullError extends StatementGivenUpError {
  constructor(cause: unknown) {
    super(cause);
    this.name = "DiskFullError";
  }
}

/** Thrown when another transaction had locked a row for longer than the statement may wait (55P03). Nothing was written. */
export class RowHeldError extends StatementGivenUpError {
  constructor(cause?: unknown) {
    super(cause);
    this.name = "RowHeldError";
    this.message = "Another transaction holds a row that is needed.";
  }
}

/** Whether the store cannot be reached. Then every statement would fail now, however small. */
export function isStoreAway(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && !(error instanceof StatementGivenUpError);
}

/** Thrown when a user's read did not begin or did not end within its time limit. */
export class ReadDeadlineError extends Error {
  readonly deadlineMs: number;

  constructor(deadlineMs: number, cause?: unknown) {
    super(`The read took longer than ${deadlineMs} ms.`, { cause });
    this.name = "ReadDeadlineError";
    this.deadlineMs = deadlineMs;
  }
}

/**
 * Thrown when the database aborted the transaction because it conflicted with another one (40001, 40P01). Nothing was written, and a retry is safe.
 */
export class TransactionAbortedError extends Error {
  constructor(cause: unknown) {
    super("The transaction was aborted by the database and can be tried again.", { cause });
    this.name = "TransactionAbortedError";
  }
}

/** Whether an error is a unique violation (SQLSTATE 23505). The caller knows from its statement which constraint was violated. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/**
 * The SQLSTATE of an error of PostgreSQL. Every SQLSTATE that PostgreSQL uses has a digit. EPIPE, the code of Node.js for a lost connection, has
 * none.
 */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
