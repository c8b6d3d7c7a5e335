import { fillKeyedTables, type KeyedTables, type RowKey, rowKey } from "@stepwell/testing/keyed/keyed-rows.ts";
import { type KeyedStatement, keyedStatements } from "@stepwell/testing/keyed/keyed-statements.ts";
import { type Asked, type Cost, costOf, planModes } from "@stepwell/testing/postgres/plan-cost.ts";
import { openStoreHomes, type StoreHome } from "@stepwell/testing/processes/store-home.ts";
import pg from "pg";
import { readConfig } from "../../packages/server/src/config.ts";
import { openStore } from "../../packages/server/src/open-store.ts";
import type { Database, Queryable } from "../../packages/server/src/store/home/database.ts";
import { readStandings } from "../../packages/server/src/store/jobs/jobs.ts";
import { median, rounded } from "../samples.ts";
import { measureReading } from "./metrics.ts";

export interface PlansSize {
  readonly jobs: number;
  readonly organizations: number;
  readonly keys: number;
}

export interface PlansResult {
  readonly bench: "plans";
  readonly subject: string;
  readonly keys?: number;
  readonly organizations?: number;
  /** The time of the first run, which also plans the statement, and may read rows that are not in the server's memory yet. */
  readonly firstMs?: number;
  /** The shortest of all times, which is closest to that on an idle machine. */
  readonly leastMs?: number;
  readonly medianMs: number;
  readonly maxMs: number;
  /**
   * The pages that one run reads with the worse of the two kinds of plans: for the given values, or for any values. A page that is read repeatedly
   * counts each time.
   */
  readonly pages?: number;
  /** Tables that a plan reads completely, although they have more rows than there are organizations. */
  readonly scanned?: readonly string[];
}

const maxStatementMs = 20;
const watchers = 5_000;
const maxWatchMs = 80;
const maxMetricMs = 100;
const repetitions = 11;
const historyRowsPerJob = 3;

/**
 * Measures, in a store with many jobs, the statements that take many keys: once with keys from as many organizations as possible, and once with all
 * keys from one organization. The store's own functions run the statements, each in a transaction that is rolled back, so that every statement finds
 * the same rows. Also measures the poll of the watchers and the reading of metrics.
 */
export async function runPlansBench(size: PlansSize, progress: (line: string) => void): Promise<PlansResult[]> {
  const homes = await openStoreHomes("postgres");
  const home = await homes.fresh();
  const database = await openStore(readConfig({ ...home.environment, STEPWELL_DATABASE_TIMEOUT_MS: "600000" }));
  try {
    const tables = {
      organizations: size.organizations,
      rowsPerOrganization: Math.ceil(size.jobs / size.organizations),
      historyRowsPerJob,
    };
    progress(`plans: filling the tables with ${size.jobs} jobs of ${size.organizations} organizations`);
    const client = await connectTo(home);
    await fillKeyedTables(client, tables);
    await client.query("CHECKPOINT");
    const results = await measureStatements(database, client, tables, size.keys, progress);
    results.push(await measureWatchers(database, tables));
    await client.end();
    progress("plans: filling the rollups of metrics");
    const { hoursMs, daysMs, hoursOfWorkflowMs } = await measureReading(database);
    results.push(
      metric("metric of 30 days by hours", hoursMs),
      metric("metric of 30 days by days", daysMs),
      metric("metric of 30 days of one workflow by hours", hoursOfWorkflowMs),
    );
    return results;
  } finally {
    await database.close();
    await home.discard();
    await homes.close();
  }
}

/** Returns which bounds are exceeded; undefined if none is. */
export function exceededBounds(results: readonly PlansResult[]): string | undefined {
  const exceeded = results.flatMap(({ subject, organizations, medianMs, maxMs, scanned = [] }) => {
    const name = organizations === undefined ? subject : `${subject} over ${organizations} organizations`;
    return [
      ...(medianMs > maxMs ? [`${name} takes ${medianMs} ms, not ${maxMs}`] : []),
      ...(scanned.length > 0 ? [`${name} scans ${scanned.join(" and ")}`] : []),
    ];
  });
  return exceeded.length === 0 ? undefined : exceeded.join("; ");
}

async function connectTo(home: StoreHome): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: home.environment.DATABASE_URL });
  await client.connect();
  await client.query("SET session_replication_role = replica");
  return client;
}

async function measureStatements(
  database: Database,
  client: pg.Client,
  tables: KeyedTables,
  keys: number,
  progress: (line: string) => void,
): Promise<PlansResult[]> {
  const results: PlansResult[] = [];
  for (const keyed of keyedStatements) {
    for (const organizations of [Math.min(keys, tables.organizations), 1]) {
      const result = await measureStatement(database, client, keyed, keysOf(tables, organizations, keys), tables);
      results.push({ ...result, keys, organizations });
      const { firstMs, leastMs, medianMs, pages, scanned } = result;
      const times = `${medianMs} ms (first ${firstMs}, least ${leastMs}), ${pages} pages`;
      const scans = scanned.length === 0 ? "" : `, scans ${scanned.join(" and ")}`;
      progress(`plans: ${keyed.name}, ${keys} keys of ${organizations}: ${times}${scans}`);
    }
  }
  return results;
}

async function measureStatement(
  database: Database,
  client: pg.Client,
  keyed: KeyedStatement,
  keys: readonly RowKey[],
  tables: KeyedTables,
) {
  const samples: number[] = [];
  let asked: readonly Asked[] = [];
  while (samples.length < repetitions) {
    const answer = await askOnce(database, keyed, keys);
    samples.push(answer.ms);
    asked = answer.asked;
  }
  const plans = await plansOf(client, asked, tables.organizations);
  return {
    bench: "plans",
    subject: keyed.name,
    ...timesOf(samples),
    maxMs: maxStatementMs,
    ...plans,
  } as const;
}

/** Makes keys of running jobs, whose numbers are even. The keys belong to `organizations` organizations, picked at equal distances among all. */
function keysOf(tables: KeyedTables, organizations: number, count: number): RowKey[] {
  const runningPerOrganization = Math.floor(tables.rowsPerOrganization / 2);
  return Array.from({ length: count }, (_, index) => {
    const organization = Math.floor((index % organizations) * (tables.organizations / organizations)) + 1;
    const number = (Math.floor(index / organizations) + (index % organizations) * 7) % runningPerOrganization;
    return rowKey(organization, 2 * (number + 1));
  });
}

async function askOnce(
  database: Database,
  { name, ask }: KeyedStatement,
  keys: readonly RowKey[],
): Promise<{ readonly ms: number; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  let ms = 0;
  await rolledBack(database, async (transaction) => {
    const query: Queryable["query"] = (statement, values) => {
      if (statement.name === name) asked.push({ statement, values });
      return transaction.query(statement, values);
    };
    const begun = performance.now();
    await ask({ query }, keys, historyRowsPerJob);
    ms = performance.now() - begun;
  });
  if (asked.length === 0) throw new Error(`The statement ${name} was not sent.`);
  return { ms, asked };
}

async function rolledBack(database: Database, work: (transaction: Queryable) => Promise<void>): Promise<void> {
  try {
    await database.transaction(
      async (transaction) => {
        await work(transaction);
        throw new RolledBack();
      },
      // The transactions of commits set this option too.
      { isKeyed: true },
    );
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
}

class RolledBack extends Error {}

/**
 * Returns how many pages the statements read with the worse of the two kinds of plans, and which tables either kind reads completely. Tables with at
 * most one row for each organization are left out, since plans are allowed to read them completely.
 */
async function plansOf(client: pg.Client, asked: readonly Asked[], organizations: number) {
  const costs: Cost[][] = [];
  for (const mode of planModes) {
    const ofMode: Cost[] = [];
    for (const one of asked) ofMode.push(await costOf(client, one, mode));
    costs.push(ofMode);
  }
  const pages = Math.max(...costs.map((ofMode) => ofMode.reduce((sum, cost) => sum + cost.pages, 0)));
  const { rows } = await client.query<{ relname: string }>(
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname = ANY($1) AND reltuples > $2",
    [costs.flat().flatMap(({ scanned }) => scanned), organizations],
  );
  return { pages, scanned: rows.map(({ relname }) => relname) };
}

/** Measures a poll of the store. One poll serves all waiting requests of a node, each of which waits for some job. */
async function measureWatchers(database: Database, tables: KeyedTables): Promise<PlansResult> {
  const keys = keysOf(tables, tables.organizations, watchers);
  const samples: number[] = [];
  while (samples.length < repetitions) {
    const begun = performance.now();
    const standings = await readStandings(database, keys);
    samples.push(performance.now() - begun);
    if (standings.length !== new Set(keys.map(({ jobId }) => jobId)).size) throw new Error("A job is missing.");
  }
  return {
    bench: "plans",
    subject: "poll of the watchers",
    keys: watchers,
    organizations: tables.organizations,
    ...timesOf(samples),
    maxMs: maxWatchMs,
  };
}

function timesOf(samples: readonly number[]) {
  const [firstMs = Number.NaN] = samples;
  return { firstMs: rounded(firstMs), leastMs: rounded(Math.min(...samples)), medianMs: rounded(median(samples)) };
}

function metric(subject: string, medianMs: number): PlansResult {
  return { bench: "plans", subject, medianMs, maxMs: maxMetricMs };
}
