/**
 * The port to the store: one dialect (PostgreSQL), two homes (`postgres.ts`, `embedded.ts`). Statements are named values, so that
 * the server plans each once per connection and a test can read them all and hold them against the rules of `docs/internals/store.md`.
 */
export interface Database extends Queryable {
  /** The lane for requests, which look credentials up and change resources. It never keeps commits, heartbeat or duties waiting. */
  readonly requests: Database;
  /**
   * The lane for one read of a list, a history, a large job or a metric of one organization: a bounded number at once, in turns with other
   * organizations. Its time begins now; a statement that comes too late throws `ReadDeadlineError`.
   */
  reader(organizationId: string): Reader;
  /** Runs `work` in one transaction at READ COMMITTED: commits when it returns, rolls back when it throws. */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * The group of organizations that can change in one transaction with this one. One single group on the embedded store and on
   * a PostgreSQL server; the shard where a server is sharded by organization.
   */
  groupOf(organizationId: string): string;
  /** True from the statement that failed because the store's disk is full until `lookForRoom` finds room. */
  isFull(): boolean;
  /** Finds out whether the disk has room again. To be called while `isFull`. */
  lookForRoom(): Promise<void>;
  /** Clears dead rows of a table away and counts the living for the planner, where nobody else does. */
  vacuum(table: string): Promise<void>;
  close(): Promise<void>;
}

export interface Queryable {
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

export type Transaction = Queryable;

/** Long enough for the commit of another node, in milliseconds, and too short for anybody to notice who does not need that row. */
export const shortLockTimeoutMs = 50;

export interface TransactionOptions {
  /**
   * How long a statement waits for a row that another transaction holds, before it throws `RowHeldError`. By default it waits until its whole time
   * is up.
   */
  readonly lockTimeoutMs?: number;
  /**
   * True for a transaction whose statements all name their rows by keys: each is planned once per connection. By itself PostgreSQL plans most of them anew
   * each time, since it takes a plan for any values for a dearer one.
   */
  readonly isKeyed?: boolean;
}

export interface Reader extends Queryable {
  /**
   * How many rows one statement should look at, at most, where it would hold up everybody else; null where others have connections of
   * their own. What must look at more does it in several statements.
   */
  readonly sliceRows: number | null;
}

/** One SQL statement. `Row` is the shape of what it answers, with the columns named as in the code (`"jobId"`). */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly scope: Scope;
  readonly planned: "once" | "each-time";
  /** Never set: it only ties `Row` to the statement. */
  readonly row?: Row;
}

/**
 * - `organization`: names the organization in every table's WHERE or VALUES, so that it goes to one shard.
 * - `global`: a small table with its own key (users, nodes), no organization's.
 * - `maintenance`: reads candidates over all organizations; only maintenance duties run it, and whoever reads the metrics of the nodes.
 */
export type Scope = "organization" | "global" | "maintenance";

const registered = new Map<string, Statement<unknown>>();

/** Every statement of the service, for the test that reads them. */
export const statements: ReadonlyMap<string, Statement<unknown>> = registered;

/**
 * `planned`: "once" per connection is right for keyed statements; "each-time" lets the planner see the values, for searches whose
 * filters are optional.
 */
export function statement<Row>(
  name: string,
  scope: Scope,
  text: string,
  planned: "once" | "each-time" = "once",
): Statement<Row> {
  if (registered.has(name)) throw new Error(`Two statements are named ${name}.`);
  const created: Statement<Row> = { name, scope, text: text.trim(), planned };
  registered.set(name, created);
  return created;
}

/** The store cannot be reached, or gave up in time. Whether a write landed may be unknown: `fate` says. */
export class StoreUnavailableError extends Error {
  readonly fate: "nothing-written" | "unknown";

  constructor(fate: "nothing-written" | "unknown", cause: unknown) {
    super(`The store is out of reach: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreUnavailableError";
    this.fate = fate;
  }
}

/**
 * The database gave up on a statement that takes too long (57014), or for which it has no memory or disk (class 53): nothing was written. It may
 * be this one statement alone, so less at once may pass.
 */
export class StatementGivenUpError extends StoreUnavailableError {
  constructor(cause: unknown) {
    super("nothing-written", cause);
    this.name = "StatementGivenUpError";
  }
}

/** The disk of the store is full (53100): nothing was written. */
export class DiskFullError extends StatementGivenUpError {
  constructor(cause: unknown) {
    super(cause);
    this.name = "DiskFullError";
  }
}

/** Another transaction holds a row that a statement needs, for longer than the statement may wait (55P03): nothing was written. */
export class RowHeldError extends StatementGivenUpError {
  constructor(cause?: unknown) {
    super(cause);
    this.name = "RowHeldError";
    this.message = "Another transaction holds a row that is needed.";
  }
}

/** True when the store cannot be reached, so that nothing of any size would pass now. */
export function isStoreAway(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && !(error instanceof StatementGivenUpError);
}

/** A user's read did not get its turn, or did not end, in its time. */
export class ReadDeadlineError extends Error {
  readonly deadlineMs: number;

  constructor(deadlineMs: number, cause?: unknown) {
    super(`The read took longer than ${deadlineMs} ms.`, { cause });
    this.name = "ReadDeadlineError";
    this.deadlineMs = deadlineMs;
  }
}

/** The database aborted the transaction for the sake of another one (40001, 40P01): nothing was written, try again. */
export class TransactionAbortedError extends Error {
  constructor(cause: unknown) {
    super("The transaction was aborted by the database and can be tried again.", { cause });
    this.name = "TransactionAbortedError";
  }
}

/** True for a unique violation (SQLSTATE 23505). Which rule it broke follows from the statement that ran. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === "23505";
}

/** The SQLSTATE of what PostgreSQL refused. Every one of its has a digit; Node's EPIPE, of a lost connection, has five capitals too. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
