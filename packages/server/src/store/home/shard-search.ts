import pg from "pg";
import { type Queryable, type Statement, StoreUnavailableError, statement } from "./database.ts";
import type { Shard, Shards, Worker } from "./shards.ts";

export interface ShardSearchOptions {
  readonly shards: Shards;
  /** Called with the reason when a worker does not answer a search, and with undefined when the worker answers again. */
  readonly onWorker: (worker: Worker, trouble: string | undefined) => void;
}

/**
 * Runs the statements of scope `maintenance` on a Citus cluster. A single statement over all organizations would ask each shard, and would fail as a
 * whole when one worker is down. Instead each worker gets one command that reads all of its shards. So when a worker is down, only its own
 * organizations are missing, and a search costs one command for each worker, however many shards there are.
 */
export class ShardSearch {
  readonly #options: ShardSearchOptions;
  readonly #now: () => number;
  /** The workers that did not answer, each with the time when it is asked again. */
  readonly #troubles = new Map<string, Trouble>();
  /** For each search that found nothing, by its name: the time until which it rests. */
  readonly #restsUntil = new Map<string, number>();

  constructor(options: ShardSearchOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  /**
   * Returns the rows of all workers that answer; no rows while the search rests. Throws when no worker answers, or when one does not answer and the
   * search needs all of them.
   */
  async run<Row>(db: Queryable, wanted: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (this.#now() < (this.#restsUntil.get(wanted.name) ?? 0)) return [];
    const rows = await this.#askAll(db, wanted, values);
    const { restMs } = wanted.merged ?? {};
    if (restMs !== undefined && rows.length === 0) this.#restsUntil.set(wanted.name, this.#now() + restMs);
    return rows;
  }

  async #askAll<Row>(db: Queryable, wanted: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const workers = this.#options.shards.onWorkers(tablesOf(wanted.text));
    const asked = await Promise.all(
      workers.map((shards) => this.#ask<Row>(db, commandFor(wanted, values, shards), shards)),
    );
    const answers = asked.filter((answer) => answer !== undefined);
    if (answers.length < workers.length) {
      await this.#options.shards.relearn(db).catch(() => false);
      if (answers.length === 0 || wanted.merged?.whole === true)
        throw new StoreUnavailableError("nothing-written", noAnswer);
    }
    return merge(answers, wanted, values);
  }

  async #ask<Row>(db: Queryable, command: string, [shard]: readonly Shard[]): Promise<Row[] | undefined> {
    if (shard === undefined) return [];
    const { host, port } = shard;
    const name = `${host}:${port}`;
    const trouble = this.#troubles.get(name);
    if (trouble !== undefined && this.#now() < trouble.askAgainAt) return undefined;
    const reason = await db.query(runOnWorker, [host, port, command]).then(
      ([answer]) => (answer?.success === true ? answer : `${answer?.result}`),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (typeof reason === "string") {
      const pauseMs = Math.min(maxPauseMs, 2 * (trouble?.pauseMs ?? minPauseMs / 2));
      this.#troubles.set(name, { pauseMs, askAgainAt: this.#now() + pauseMs });
      if (trouble === undefined) this.#options.onWorker({ host, port }, reason);
      return undefined;
    }
    if (this.#troubles.delete(name)) this.#options.onWorker({ host, port }, undefined);
    return JSON.parse(reason.result) as Row[];
  }
}

interface Trouble {
  readonly pauseMs: number;
  readonly askAgainAt: number;
}

const minPauseMs = 1_000;
const maxPauseMs = 30_000;
const noAnswer = new Error("A Citus worker does not answer.");

const runOnWorker = statement<{ success: boolean; result: string }>(
  "run_on_worker",
  "global",
  "SELECT success, result FROM master_run_on_worker(ARRAY[$1::text], ARRAY[$2::integer], ARRAY[$3::text], false)",
);

/**
 * The command for one worker. It is the statement itself, but each table's name means the union of the table's shards on this worker. PostgreSQL
 * turns such a union into one scan for each shard, which uses the shard's indexes and their order.
 */
export function commandFor(
  { text }: Pick<Statement<unknown>, "text">,
  values: readonly unknown[],
  shards: readonly Shard[],
): string {
  const unions = [...Map.groupBy(shards, ({ table }) => table)].map(
    ([table, ofTable]) =>
      `${table} AS NOT MATERIALIZED (${ofTable.map(({ name }) => `SELECT * FROM ${name}`).join(" UNION ALL ")})`,
  );
  const own = text.replace(/\$(\d+)/g, (_, number: string) => literalOf(values[Number(number) - 1]));
  const [, recursive = "", rest = own] = /^WITH (RECURSIVE )?([\s\S]*)$/.exec(own) ?? [];
  const whole = rest === own ? `WITH ${unions.join(", ")} ${own}` : `WITH ${recursive}${unions.join(", ")}, ${rest}`;
  return `SELECT coalesce(json_agg(found), '[]') FROM (${whole}) AS found`;
}

/** Finds the tables that a statement reads. The result may have other names too. They do no harm, because no shard belongs to them. */
function tablesOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/g)].map(([, table]) => table ?? ""));
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map(elementOf).join(",")}}` : String(value));
}

function elementOf(value: unknown): string {
  return value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`;
}

/**
 * Combines the answers of the workers into one. Each answer is in the statement's order and within its limit. When the statement names columns for
 * merging, the rows are merged in the order of these columns. Otherwise the rows are taken from the workers by turns, so that the limit leaves no
 * worker out.
 */
function merge<Row>(answers: readonly Row[][], { text, merged }: Statement<Row>, values: readonly unknown[]): Row[] {
  const rows = merged?.order === undefined ? byTurns(answers) : inOrder(answers.flat(), merged.order);
  const [, parameter] = /\bLIMIT \$(\d+)$/.exec(text) ?? [];
  const limited = parameter === undefined ? rows : rows.slice(0, Number(values[Number(parameter) - 1]));
  return merged?.times === undefined ? limited : limited.map((row) => withTimes(row, merged.times ?? []));
}

function byTurns<Row>(answers: readonly Row[][]): Row[] {
  const longest = Math.max(0, ...answers.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => answers.flatMap((rows) => rows.slice(index, index + 1))).flat();
}

function inOrder<Row>(rows: readonly Row[], columns: readonly string[]): Row[] {
  const keyOf = (row: Row) => columns.map((column) => String((row as Record<string, unknown>)[column])).join(" ");
  return rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0));
}

/** JSON has no type for times, so they come as text. Everywhere else they are milliseconds since 1970. */
function withTimes<Row>(row: Row, columns: readonly string[]): Row {
  const read = { ...row } as Record<string, unknown>;
  for (const column of columns) {
    const time = read[column];
    if (typeof time === "string") read[column] = Date.parse(time);
  }
  return read as Row;
}
