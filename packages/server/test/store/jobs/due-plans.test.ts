import { randomUUID } from "node:crypto";
import { uuid, uuidOf } from "@stepwell/testing/keyed/numbered-id.ts";
import { askedFor, costOf, planModes } from "@stepwell/testing/postgres/plan-cost.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../src/store/home/database.ts";
import { commandFor } from "../../../src/store/home/shard-search.ts";
import { findDueVersions } from "../../../src/store/jobs/due-versions.ts";
import { findCallsOfNode, findOrphanedCalls } from "../../../src/store/jobs/job-calls.ts";
import { findDueJobs, findDueJobsInTurn, findNextWake, findTimedOutJobs } from "../../../src/store/jobs/timers.ts";
import { openRowsOnly, type RowsOnly } from "../statements/rows-only.ts";

/**
 * One organization has this many due jobs of one version, and they are due before the jobs of all other organizations. No search of the duties may
 * read all of them on its way to other jobs: the searches run twice a second, so the database could then do nothing else. Both homes of the store
 * make the same plans, so one is enough.
 */
const backlogCount = 100_000;
const otherVersionCount = 2_000;
const now = Date.parse("2026-01-31T12:00:00Z");
const backlogId = uuid(1);
const nodeId = randomUUID();

let rows: RowsOnly;
/**
 * A database in which nearly all jobs belong to the backlog. The planner then expects that a search by time finds jobs of any version soon.
 */
let backlogOnly: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
  backlogOnly = await openRowsOnly();
  for (const { client } of [rows, backlogOnly]) {
    await insertJobs(client, backlogCount, "1", "n", "PENDING", "'2026-01-30T12:00:00Z'");
  }
  await insertJobs(backlogOnly.client, 3, "n + 1", "n + 200000", "RUNNING", "NULL", "1");
  await backlogOnly.client.query("VACUUM ANALYZE job");
  const { client } = rows;
  // Each of the other versions has a wait and a pending job that have been due for an hour, a wait that is not due, and a job with a call.
  const own = [otherVersionCount, "n + 1"] as const;
  await insertJobs(client, ...own, "n + 200000", "RUNNING", "'2026-01-31T11:00:00Z'", "0", "ARRAY['approved']");
  await insertJobs(client, ...own, "n + 300000", "PENDING", "'2026-01-31T11:00:00Z'");
  await insertJobs(client, ...own, "n + 400000", "RUNNING", "'2026-01-31T13:00:00Z'", "0", "ARRAY['approved']");
  await insertJobs(client, ...own, "n + 500000", "RUNNING", "NULL", "1");
  await client.query(`INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, node_id, begun, ready_at)
    SELECT organization_id, job_id, '', version_id, 'call', 1, 1, '${nodeId}', true, '2026-01-01' FROM job WHERE call_count = 1`);
  // Each job of the backlog has a task that waits for a worker. Such a task has no node.
  await client.query(`INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, begun, ready_at, queue, priority, workflow_id, queued_at, heartbeat_ms)
    SELECT organization_id, job_id, '', version_id, 'task', 1, 1, false, '2026-01-01', 'q', 0, workflow_id, '2026-01-01', 30000 FROM job WHERE organization_id = '${backlogId}'`);
  await client.query("VACUUM ANALYZE job_call");
  // Some jobs with a call under way have reached the timeout of the whole job.
  await client.query(
    `UPDATE job SET timeout_at = '2026-01-31T11:00:00Z' WHERE call_count = 1 AND hashtext(job_id::text) % 10 = 0`,
  );
  await client.query("VACUUM ANALYZE job");
}, 120_000);

afterAll(() => Promise.all([rows.close(), backlogOnly.close()]));

const versions = Array.from({ length: 500 }, (_, index) => ({
  organizationId: uuid(index + 1),
  versionId: uuid(index + 1),
  withWaits: true,
  withSteps: true,
}));
/** A node parks at most this many jobs. */
const parkedIds = Array.from({ length: 1_000 }, (_, index) => uuid(index + 1));
const leftOutVersions = { versionIds: parkedIds, fullOrganizationIds: parkedIds };
const leftOut = { versionIds: parkedIds, jobIds: parkedIds, organizationIds: parkedIds };
const bounds = { share: 20, limit: 500 };

test.each<[name: string, maxPages: number, ask: (db: Database) => Promise<unknown>]>([
  ["find_due_jobs", 100, (db) => findDueJobs(db, now, 500)],
  // Each version costs the look-ups in two indexes, and the rows that they lead to.
  ["find_due_jobs_in_turn", 500 * 9, (db) => findDueJobsInTurn(db, now, versions, parkedIds, bounds)],
  // Each of the 500 versions costs one look-up in each of the two indexes.
  ["find_due_versions", 500 * 2 * 4, (db) => findDueVersions(db, now, leftOutVersions, undefined, 500)],
  ["find_timed_out_jobs", 100, (db) => findTimedOutJobs(db, now, leftOut, 500)],
  ["find_next_wake", 10, (db) => findNextWake(db, now)],
  ["find_orphaned_calls", 200, (db) => findOrphanedCalls(db, [randomUUID()], leftOut, 500)],
  [
    "find_calls_of_node",
    200,
    (db) => findCallsOfNode(db, { nodeId, ageMs: 1_000, after: { jobId: uuid(0), branch: "" } }, leftOut, 500),
  ],
])("%s reads no rows of a backlog", async (name, maxPages, ask) => {
  const asked = await askedFor(name, ask);
  for (const mode of planModes) {
    const { pages, filtered, scanned } = await costOf(rows.client, asked, mode);
    expect({ mode, scanned }).toEqual({ mode, scanned: [] });
    expect(pages, mode).toBeLessThan(maxPages);
    expect(filtered, mode).toBeLessThanOrEqual(parkedIds.length);
  }
});

test.each<[name: string, ask: (db: Database) => Promise<unknown>]>([
  ["find_due_jobs_in_turn", (db) => findDueJobsInTurn(db, now, versions.slice(0, 4), [], bounds)],
  ["find_due_versions", (db) => findDueVersions(db, now, { versionIds: [], fullOrganizationIds: [] }, undefined, 500)],
])("%s reads no rows of a backlog if nearly all jobs belong to it", async (name, ask) => {
  const asked = await askedFor(name, ask);
  for (const mode of planModes) {
    const { pages, filtered } = await costOf(backlogOnly.client, asked, mode);
    expect(filtered, mode).toBeLessThan(10);
    expect(pages, mode).toBeLessThan(100);
  }
});

test("on a worker of a Citus cluster, find_due_versions goes through the indexes of all shards at once", async () => {
  const { client } = rows;
  const shards = ["1", "2"].map((shardId) => ({ table: "job", name: `job_${shardId}`, shardId, ...range }));
  for (const [index, { name }] of shards.entries()) {
    await client.query(`CREATE TABLE ${name} (LIKE job INCLUDING ALL)`);
    const isInShard = `organization_id <> '${backlogId}' AND uuid_hash(organization_id) & 1 = ${index}`;
    await client.query(`INSERT INTO ${name} SELECT * FROM job WHERE ${isInShard}`);
    await client.query(`VACUUM ANALYZE ${name}`);
  }
  const { statement, values } = await askedFor("find_due_versions", (db) =>
    findDueVersions(db, now, leftOutVersions, undefined, 500),
  );
  const command = { statement: { ...statement, text: commandFor(statement, values, shards) }, values: [] };

  const { pages, filtered, scanned } = await costOf(client, command, "force_custom_plan");

  expect(scanned).toEqual([]);
  expect(filtered).toBeLessThanOrEqual(parkedIds.length);
  expect(pages).toBeLessThan(shards.length * 500 * 2 * 4);
});

const range = { min: 0, max: 0, host: "localhost", port: 5432 };

/** Inserts jobs 1 to `count`; the expressions use n for the number. */
async function insertJobs(
  client: RowsOnly["client"],
  count: number,
  organization: string,
  job: string,
  status: string,
  wakeAt: string,
  callCount = "0",
  eventIds = "NULL::text[]",
): Promise<void> {
  await client.query(
    `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch,
       state, input, submitted_by, created_at, started_at, updated_at, wake_at, call_count, awaiting_event_ids)
     SELECT ${uuidOf(organization)}, ${uuidOf(job)}, ${uuidOf(organization)}, 'w', ${uuidOf(organization)}, 1, '${status}', 1, 1,
       '{}', '{}', '{}', '2026-01-01', '2026-01-01', '2026-01-01', (${wakeAt})::timestamptz, ${callCount}, ${eventIds}
     FROM generate_series(1, ${count}) AS n`,
  );
}
