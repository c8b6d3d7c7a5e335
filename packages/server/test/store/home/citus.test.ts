import { randomUUID } from "node:crypto";
import { fillKeyedTables } from "@stepwell/testing/keyed/keyed-rows.ts";
import { uuid } from "@stepwell/testing/keyed/numbered-id.ts";
import {
  type CitusStandIn,
  distributeScript,
  makeCitusStandIn,
  standInWorkers,
} from "@stepwell/testing/postgres/citus-stand-in.ts";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { openStore } from "../../../src/open-store.ts";
import { listAllOrganizationIds } from "../../../src/store/audit/audit-verification.ts";
import {
  type Database,
  type Statement,
  StoreUnavailableError,
  statements,
  TransactionAbortedError,
} from "../../../src/store/home/database.ts";
import { columnTypes } from "../../../src/store/home/pool.ts";
import { ShardSearch } from "../../../src/store/home/shard-search.ts";
import { Shards, type Worker } from "../../../src/store/home/shards.ts";
import { type DueVersion, findDueVersions } from "../../../src/store/jobs/due-versions.ts";
import { findDueJobs, findNextWake } from "../../../src/store/jobs/timers.ts";
import type { VersionKey } from "../../../src/store/workflows/versions.ts";
import { registerStatements } from "../statements/registered-statements.ts";
import { openRowsOnly } from "../statements/rows-only.ts";
import { organizationTables } from "../statements/statement-rules.ts";

const ownStatements = await registerStatements();

const organizationCount = 40;
const [first, second] = standInWorkers;
const now = Date.parse("2026-01-31T12:00:00Z");

let citus: CitusStandIn;
let database: Database;

beforeAll(async () => {
  citus = await makeCitusStandIn();
  const { client } = citus;
  await client.query("SET session_replication_role = replica");
  await fillKeyedTables(client, { organizations: organizationCount, rowsPerOrganization: 4, historyRowsPerJob: 1 });
  await client.query(
    "UPDATE job SET wake_at = '2026-01-30T12:00:00Z' WHERE call_count = 1 AND right(job_id::text, 1) IN ('1', '2', '3')",
  );
  await client.query("UPDATE job SET wake_at = '2026-02-28T12:00:00Z' WHERE call_count = 1 AND wake_at IS NULL");
  database = await openStore(readConfig({ DATABASE_URL: citus.url }));
}, 120_000);

beforeEach(async () => {
  await citus.client.query("DELETE FROM worker_command; DELETE FROM worker_down");
});

afterAll(async () => {
  await database.close();
  await citus.remove();
});

test("the script distributes every table of organizations, and the service knows every other table that shares a transaction", async () => {
  const known = await tableNames("SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partmethod = 'h'");
  expect(known).toEqual([...organizationTables].sort());
  const all = await tableNames(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  const local = await tableNames("SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partmethod = 'n'");
  const unknown = all.filter((table) => !known.includes(table) && !local.includes(table));
  expect(unknown).toEqual(["node", "rate_usage", "schema_migration"]);
});

test("the script leaves every foreign key as it was", async () => {
  const keysOf = async (client: pg.Client) =>
    (
      await client.query<{ key: string }>(
        `SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS key FROM pg_constraint
         WHERE contype = 'f' ORDER BY 1`,
      )
    ).rows.map(({ key }) => key);
  const plain = await openRowsOnly();
  try {
    expect(await keysOf(citus.client)).toEqual(await keysOf(plain.client));
  } finally {
    await plain.close();
  }
});

test("a store that is not distributed yet counts as one server, even if Citus is installed", async () => {
  const undistributed = await makeCitusStandIn(false);
  const plain = await openStore(readConfig({ DATABASE_URL: undistributed.url }));
  try {
    expect(new Set([1, 2, 3, 4, 5].map((number) => plain.groupOf(uuid(number))))).toEqual(new Set(["server"]));
    expect(await listAllOrganizationIds(plain, null, 10)).toEqual([]);
    expect((await undistributed.client.query("SELECT 1 FROM pg_dist_partition")).rows).toEqual([]);
  } finally {
    await plain.close();
    await undistributed.remove();
  }
});

test("the script reports a missing Citus", async () => {
  const plain = await openRowsOnly();
  try {
    const ran = plain.client.query(`BEGIN; ${distributeScript()} COMMIT`);
    await expect(ran).rejects.toThrow("This database has no Citus. Run: CREATE EXTENSION citus");
  } finally {
    await plain.close();
  }
});

test("a table that is newer than the distribution of the store is registered at the start of the service", async () => {
  await citus.client.query("CREATE TABLE kept_letter (letter_id uuid PRIMARY KEY, user_id uuid REFERENCES app_user)");
  const other = await openStore(readConfig({ DATABASE_URL: citus.url }));
  await other.close();
  const local = await tableNames("SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partmethod = 'n'");
  expect(local).toContain("kept_letter");
  await citus.client.query(
    "DELETE FROM pg_dist_partition WHERE logicalrelid = 'kept_letter'::regclass; DROP TABLE kept_letter",
  );
});

test("organizations are in one group if and only if they are on one shard", async () => {
  const shards = await shardsOfOrganizations();
  const groups = new Set(shards.map(({ shard, organizationId }) => `${shard} ${database.groupOf(organizationId)}`));
  expect(groups.size).toBe(4);
  expect(new Set(shards.map(({ organizationId }) => database.groupOf(organizationId))).size).toBe(4);
});

test("every search over all organizations finds the same rows as on one server, with one command for each worker", async () => {
  const searches = ownStatements.filter(({ scope }) => scope === "maintenance");
  expect(searches.length).toBeGreaterThan(15);
  const found: string[] = [];
  for (const search of searches) {
    const values = await valuesFor(search);
    const query = { text: search.text, values: [...values], types: columnTypes };
    const onOne = (await citus.client.query(query)).rows;
    const onMany = await database.query(search, values);
    const own = search.merged?.order === undefined ? byText : (rows: unknown[]) => rows;
    if (search.name === "find_next_wake") expect(onMany).toContainEqual(onOne[0]);
    else expect({ name: search.name, rows: own(onMany) }).toEqual({ name: search.name, rows: own(onOne) });
    if (onOne.length > 0) found.push(search.name);
  }
  const commands = await citus.client.query("SELECT 1 FROM worker_command");
  expect(commands.rows.length).toBe(2 * searches.length);
  expect(found).toContain("find_due_jobs");
  expect(found).toContain("find_orphaned_calls");
});

test("a search that continues after the last row of a page omits no row, whichever workers have the rows", async () => {
  const seen: string[] = [];
  for (let after: string | null = null; ; after = seen.at(-1) ?? null) {
    const page = await listAllOrganizationIds(database, after, 7);
    seen.push(...page);
    if (page.length < 7) break;
  }
  expect(seen).toEqual(Array.from({ length: organizationCount }, (_, index) => uuid(index + 1)).sort());
});

test("after a search for due versions ends at its limit, the next one continues at the earliest place that a Citus worker has reached", async () => {
  const leftOut = { versionIds: [], fullOrganizationIds: [] };
  const whole = await findDueVersions(database, now, leftOut, undefined, 500);
  const { rows } = await citus.client.query<VersionKey>(
    `SELECT organization_id AS "organizationId", version_id AS "versionId"
     FROM job WHERE wake_at <= $1 GROUP BY organization_id, version_id ORDER BY organization_id, version_id`,
    [new Date(now)],
  );
  expect(rows.length).toBeGreaterThan(6);
  expect(whole).toEqual({ versions: rows.map((row) => expect.objectContaining(row)), last: undefined });

  const seen: DueVersion[] = [];
  let last: VersionKey | undefined;
  do {
    const found = await findDueVersions(database, now, leftOut, last, 3);
    expect(found.versions.length).toBeLessThanOrEqual(3);
    seen.push(...found.versions);
    last = found.last;
  } while (last !== undefined);
  expect(seen).toEqual(whole.versions);
});

test("a limit excludes no Citus worker", async () => {
  const due = await findDueJobs(database, now, 6);
  const shards = new Map((await shardsOfOrganizations()).map(({ organizationId, worker }) => [organizationId, worker]));
  expect(due.length).toBe(6);
  expect(new Set(due.map(({ organizationId }) => shards.get(organizationId))).size).toBe(2);
});

test("the time of the next timer is the earliest of all Citus workers", async () => {
  expect(await findNextWake(database, now)).toBe(Date.parse("2026-02-28T12:00:00Z"));
});

test("a Citus worker that is down delays only its own organizations", async () => {
  const reports: (readonly [Worker, string | undefined])[] = [];
  let passedMs = 0;
  const shards = new Shards();
  await shards.learn(database);
  const search = new ShardSearch({ shards, onWorker: (...report) => reports.push(report) }, () => passedMs);
  const [dueJobs] = [...statements.values()].filter(({ name }) => name === "find_due_jobs");
  if (dueJobs === undefined) throw new Error("The statement is not there.");
  const values = [new Date(now).toISOString(), 1_000];
  const all = await search.run(database, dueJobs, values);
  await citus.client.query("INSERT INTO worker_down VALUES ($1)", [second.host]);
  const left = await search.run(database, dueJobs, values);
  const ofFirst = new Set(
    (await shardsOfOrganizations()).flatMap((one) => (one.worker === first.host ? one.organizationId : [])),
  );
  const isOfFirst = (row: unknown) => ofFirst.has((row as { organizationId: string }).organizationId);
  expect(left.length).toBeLessThan(all.length);
  expect(byText(left)).toEqual(byText(all.filter(isOfFirst)));
  expect(reports).toEqual([[second, "failed to connect to worker-2.test:5432"]]);
  // The worker that failed is not asked again at once, and the failure is reported once.
  await citus.client.query("DELETE FROM worker_command");
  await search.run(database, dueJobs, values);
  expect((await citus.client.query("SELECT nodename FROM worker_command")).rows).toEqual([{ nodename: first.host }]);
  await citus.client.query("DELETE FROM worker_down");
  passedMs += 1_000;
  expect(byText(await search.run(database, dueJobs, values))).toEqual(byText(all));
  expect(reports.at(-1)).toEqual([second, undefined]);
});

test("a search that found nothing is not repeated for a while if its statement says so", async () => {
  let passedMs = 0;
  const shards = new Shards();
  await shards.learn(database);
  const search = new ShardSearch({ shards, onWorker: () => {} }, () => passedMs);
  const lost = statements.get("find_lost_tasks");
  if (lost?.merged?.restMs === undefined) throw new Error("The statement does not say how long it rests.");
  const ask = () => search.run(database, lost, [[], [], [], 10]);
  const countCommands = async () => (await citus.client.query("SELECT 1 FROM worker_command")).rows.length;
  await ask();
  await ask();
  expect(await countCommands()).toBe(2);
  passedMs += lost.merged.restMs;
  await ask();
  expect(await countCommands()).toBe(4);
});

test("a search that must cover all organizations fails while a Citus worker is down, and any search fails when all are", async () => {
  const own = await openStore(readConfig({ DATABASE_URL: citus.url }));
  try {
    await citus.client.query("INSERT INTO worker_down VALUES ($1)", [second.host]);
    await expect(listAllOrganizationIds(own, null, 10)).rejects.toThrow(StoreUnavailableError);
    await expect(findDueJobs(own, now, 10)).resolves.not.toEqual([]);
    await citus.client.query("INSERT INTO worker_down VALUES ($1)", [first.host]);
    await expect(findDueJobs(own, now, 10)).rejects.toThrow(StoreUnavailableError);
  } finally {
    await own.close();
  }
});

test("a transaction that is rejected because a shard was split can be tried again after the shards have been read again", async () => {
  let passedMs = 0;
  const shards = new Shards(() => passedMs);
  await shards.learn(database);
  const before = shards.groupOf(uuid(1));
  expect(await shards.relearn(database)).toBe(false);
  passedMs += 10_000;
  expect(await shards.relearn(database)).toBe(false);
  await citus.client.query("UPDATE pg_dist_shard SET shardid = shardid + 1000");
  await citus.client.query("UPDATE pg_dist_placement SET shardid = shardid + 1000");
  try {
    // The layout is read at most once in ten seconds, however often a statement is rejected.
    expect(await shards.relearn(database)).toBe(false);
    passedMs += 10_000;
    const [one, other] = await Promise.all([shards.relearn(database), shards.relearn(database)]);
    expect([one, other]).toEqual([true, true]);
    expect(shards.groupOf(uuid(1))).toBe(`${Number(before) + 1_000}`);
  } finally {
    await citus.client.query("UPDATE pg_dist_shard SET shardid = shardid - 1000");
    await citus.client.query("UPDATE pg_dist_placement SET shardid = shardid - 1000");
  }
});

test("an error is reported unchanged if the known shards have not changed", async () => {
  const refused = database.transaction((transaction) => transaction.query(refuse("0A000"), []));
  await expect(refused).rejects.toThrow("refused");
  await expect(refused).rejects.not.toThrow(TransactionAbortedError);
});

test("a commit's transaction passes its settings to the Citus workers, and does not force generic plans", async () => {
  const settings = await database.transaction((transaction) => transaction.query(readSettings, []), {
    lockTimeoutMs: 50,
    isKeyed: true,
  });
  expect(settings).toEqual([{ planCacheMode: "auto", lockTimeout: "50ms", propagated: "local" }]);
});

test("an unclear error at COMMIT leaves the result unknown", async () => {
  await citus.client.query(`
    CREATE TABLE doomed (id integer PRIMARY KEY);
    CREATE FUNCTION fail_late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'XX000'; END $$;
    CREATE CONSTRAINT TRIGGER late AFTER INSERT ON doomed DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_late()`);
  const lost = database.transaction((transaction) => transaction.query(own("INSERT INTO doomed VALUES (1)"), []));
  await expect(lost).rejects.toThrow(expect.objectContaining({ name: "StoreUnavailableError", fate: "unknown" }));
});

const readSettings =
  own(`SELECT current_setting('plan_cache_mode') AS "planCacheMode", current_setting('lock_timeout') AS "lockTimeout",
  current_setting('citus.propagate_set_commands') AS propagated`);

function refuse(state: string): Statement<unknown> {
  return own(`DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'; END $$`);
}

function own(text: string): Statement<unknown> {
  return { name: randomUUID(), scope: "global", text, planned: "each-time" };
}

async function tableNames(text: string): Promise<string[]> {
  const { rows } = await citus.client.query<{ name: string }>(text);
  return rows.map(({ name }) => name).sort();
}

/** Returns, for each organization, the shard and the worker to which PostgreSQL's own hash leads. */
async function shardsOfOrganizations(): Promise<{ organizationId: string; shard: string; worker: string }[]> {
  const { rows } = await citus.client.query<{ organizationId: string; shard: string; worker: string }>(
    `SELECT organization_id AS "organizationId", shardid::text AS shard, nodename AS worker
     FROM organization
     JOIN pg_dist_shard ON logicalrelid = 'organization'::regclass
       AND uuid_hash(organization_id) BETWEEN shardminvalue::integer AND shardmaxvalue::integer
     JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)`,
  );
  return rows;
}

/** Makes values of the types that PostgreSQL infers for the parameters. With these values, the searches find all rows. */
async function valuesFor({ name, text }: Statement<unknown>): Promise<unknown[]> {
  if (name === "find_due_jobs_in_turn") {
    const ids = Array.from({ length: organizationCount }, (_, index) => uuid(index + 1));
    return [new Date(now).toISOString(), ids, ids, ids.map(() => true), ids.map(() => true), [], 20, 500];
  }
  await citus.client.query(`PREPARE asked AS ${text}`);
  const { rows } = await citus.client.query<{ type: string }>(
    "SELECT unnest(parameter_types)::text AS type FROM pg_prepared_statements WHERE name = 'asked'",
  );
  await citus.client.query("DEALLOCATE asked");
  return rows.map(({ type }) => sampleValues[type] ?? null);
}

const sampleValues: Readonly<Record<string, unknown>> = {
  "timestamp with time zone": new Date(now).toISOString(),
  uuid: uuid(0),
  "uuid[]": [],
  text: "",
  integer: 5_000,
  bigint: 5_000,
};

function byText(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
