import { readdirSync, readFileSync } from "node:fs";
import type { StoreHome } from "@stepwell/testing/processes/store-home.ts";
import pg from "pg";

/**
 * The work of the processes and the store during a measurement. The store's figures are null on the embedded store, since only the service can ask
 * that store.
 */
export interface Cost {
  /** Processor time of the service's process, in milliseconds. */
  readonly serviceMs: number;
  /** Processor time of all processes of a PostgreSQL server on this machine. */
  readonly databaseMs: number | null;
  /** Processor time of this process, which runs the load or the worker. */
  readonly benchMs: number;
  /** Bytes that the database wrote to its log. */
  readonly walBytes: number | null;
  /** Transactions that wrote something. */
  readonly transactions: number | null;
}

/**
 * Reads the processor time and the store's work of a measurement. Unlike elapsed time, these figures hardly depend on other work on the machine.
 * Needs /proc.
 */
export class CostMeter {
  readonly #servicePid: number;
  readonly #database: pg.Client | undefined;
  readonly #postmasterPid: number | undefined;

  static async open(servicePid: number, home: StoreHome): Promise<CostMeter> {
    const connectionString = home.environment.DATABASE_URL;
    if (connectionString === undefined) return new CostMeter(servicePid);
    const database = new pg.Client({ connectionString });
    await database.connect();
    const { rows } = await database.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return new CostMeter(servicePid, database, postmasterOf(rows[0]?.pid ?? 0));
  }

  private constructor(servicePid: number, database?: pg.Client, postmasterPid?: number) {
    this.#servicePid = servicePid;
    this.#database = database;
    this.#postmasterPid = postmasterPid;
  }

  async measure<Result>(work: () => Promise<Result>): Promise<{ readonly cost: Cost; readonly result: Result }> {
    const before = await this.#read();
    const result = await work();
    const after = await this.#read();
    const spent = (name: keyof Cost) => difference(before[name], after[name]);
    const cost = {
      serviceMs: after.serviceMs - before.serviceMs,
      databaseMs: spent("databaseMs"),
      benchMs: after.benchMs - before.benchMs,
      walBytes: spent("walBytes"),
      transactions: spent("transactions"),
    };
    return { cost, result };
  }

  async close(): Promise<void> {
    await this.#database?.end();
  }

  async #read(): Promise<Cost> {
    const { user, system } = process.cpuUsage();
    const stored = await this.#readStore();
    return { serviceMs: ownMsOf(this.#servicePid), benchMs: (user + system) / 1_000, ...stored };
  }

  async #readStore(): Promise<Pick<Cost, "databaseMs" | "walBytes" | "transactions">> {
    if (this.#database === undefined) return { databaseMs: null, walBytes: null, transactions: null };
    const { rows } = await this.#database.query<{ wal: string; next: string }>(
      "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, pg_snapshot_xmax(pg_current_snapshot())::text AS next",
    );
    const databaseMs = this.#postmasterPid === undefined ? null : treeMsOf(this.#postmasterPid);
    return { databaseMs, walBytes: Number(rows[0]?.wal), transactions: Number(rows[0]?.next) };
  }
}

/** Divides the cost by `count`, the number of pieces of work. Times are in microseconds. */
export function costOfOne({ serviceMs, databaseMs, benchMs, walBytes, transactions }: Cost, count: number) {
  const us = (ms: number | null) => ms && Math.round((ms * 1_000) / count);
  return {
    serviceUs: us(serviceMs),
    databaseUs: us(databaseMs),
    benchUs: us(benchMs),
    walBytes: walBytes && Math.round(walBytes / count),
    transactions: transactions && Math.round((transactions * 1_000) / count) / 1_000,
  };
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

/** Returns the process id of the PostgreSQL server to which this backend process belongs; undefined if the server runs on another machine. */
function postmasterOf(backendPid: number): number | undefined {
  try {
    return readFileSync(`/proc/${backendPid}/comm`, "utf8").trim() === "postgres"
      ? statOf(backendPid).parent
      : undefined;
  } catch {
    return undefined;
  }
}

function ownMsOf(pid: number): number {
  return statOf(pid).ownMs;
}

/** The processor time of a process and all its children, including those that have ended. */
function treeMsOf(pid: number): number {
  const { ownMs, endedMs } = statOf(pid);
  const others = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statIfAlive(Number(name)) ?? []) : []));
  return others.reduce((sum, { parent, ownMs: childMs }) => (parent === pid ? sum + childMs : sum), ownMs + endedMs);
}

function statIfAlive(pid: number): Stat | undefined {
  try {
    return statOf(pid);
  } catch {
    // The process has ended since it was listed.
    return undefined;
  }
}

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  /** The processor time of those children of the process that have ended. */
  readonly endedMs: number;
}

function statOf(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program stands in brackets and may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  const ms = (ticks = 0, more = 0) => (ticks + more) * msPerTick;
  return { parent: parent ?? 0, ownMs: ms(user, system), endedMs: ms(endedUser, endedSystem) };
}

/** Linux reports these times in hundredths of a second. */
const msPerTick = 10;
