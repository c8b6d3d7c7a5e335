import { randomUUID } from "node:crypto";
import { uuid, uuidOf } from "@stepwell/testing/numbered-id.ts";
import { type Asked, costOf, planModes } from "@stepwell/testing/plan-cost.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/store/home/database.ts";
import { findOrphans, findOwned } from "../../src/store/jobs/nodes.ts";
import { findDueJobs, findDueJobsInTurn, findNextWake, listVersionKeys } from "../../src/store/jobs/timers.ts";
import { openRowsOnly, type RowsOnly } from "./rows-only.ts";

/**
 * One organization has this many due jobs, of one version, before all others'. None of the searches of the duties may read past them: twice a
 * second that would be all that the database does. Both homes of the store plan alike, so one is enough.
 */
const backlogCount = 100_000;
const otherVersionCount = 2_000;
const now = Date.parse("2026-01-31T12:00:00Z");
const backlogId = uuid(1);
const nodeId = randomUUID();

let rows: RowsOnly;
/** Here nearly all jobs are of the backlog, so that any version's seem easy to find in the order of their time. */
let backlogOnly: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
  backlogOnly = await openRowsOnly();
  for (const { client } of [rows, backlogOnly]) {
    await insertJobs(client, backlogCount, "1", "n", "PENDING", "'2026-01-30T12:00:00Z'", "NULL");
  }
  await insertJobs(backlogOnly.client, 3, "n + 1", "n + 200000", "RUNNING", "NULL", `'${nodeId}'`);
  await backlogOnly.client.query("VACUUM ANALYZE job");
  const { client } = rows;
  // Each of the other versions has a wait and a pending job that are due since an hour ago, and a wait that is not due.
  const own = [otherVersionCount, "n + 1"] as const;
  await insertJobs(client, ...own, "n + 200000", "RUNNING", "'2026-01-31T11:00:00Z'", "NULL, ARRAY['approved']");
  await insertJobs(client, ...own, "n + 300000", "PENDING", "'2026-01-31T11:00:00Z'", "NULL");
  await insertJobs(client, ...own, "n + 400000", "RUNNING", "'2026-01-31T13:00:00Z'", "NULL, ARRAY['approved']");
  await insertJobs(client, ...own, "n + 500000", "RUNNING", "NULL", `'${nodeId}'`);
  await client.query(`INSERT INTO workflow_version (organization_id, version_id, workflow_id, version_number, definition, created_by, created_at)
    SELECT ${uuidOf("n")}, ${uuidOf("n")}, ${uuidOf("n")}, 1, '{}', '{}', now() FROM generate_series(1, ${otherVersionCount + 1}) AS n`);
  await client.query("VACUUM ANALYZE job");
  await client.query("VACUUM ANALYZE workflow_version");
}, 120_000);

afterAll(() => Promise.all([rows.close(), backlogOnly.close()]));

const versions = Array.from({ length: 500 }, (_, index) => ({
  organizationId: uuid(index + 1),
  versionId: uuid(index + 1),
  withSteps: true,
}));
/** As many as a node parks. */
const parkedIds = Array.from({ length: 1_000 }, (_, index) => uuid(index + 1));
const leftOut = { versionIds: parkedIds, jobIds: parkedIds };
const bounds = { share: 20, limit: 500 };

test.each<[name: string, maxPages: number, ask: (db: Database) => Promise<unknown>]>([
  ["find_due_jobs", 100, (db) => findDueJobs(db, now, 500)],
  // Each version costs the ways down two indexes, and the rows that they lead to.
  ["find_due_jobs_in_turn", 500 * 9, (db) => findDueJobsInTurn(db, now, versions, parkedIds, bounds)],
  ["list_version_keys", 50, (db) => listVersionKeys(db, { organizationId: backlogId, versionId: backlogId }, 500)],
  ["find_next_wake", 10, (db) => findNextWake(db, now)],
  ["find_orphaned_jobs", 200, (db) => findOrphans(db, [randomUUID()], leftOut, 500)],
  ["find_owned_jobs", 200, (db) => findOwned(db, { nodeId, ageMs: 1_000, after: uuid(0) }, leftOut, 500)],
])("%s reads past no backlog", async (name, maxPages, ask) => {
  const asked = await askedFor(name, ask);
  for (const mode of planModes) {
    const { pages, filtered, scanned } = await costOf(rows.client, asked, mode);
    expect({ mode, scanned }).toEqual({ mode, scanned: [] });
    expect(pages, mode).toBeLessThan(maxPages);
    expect(filtered, mode).toBeLessThanOrEqual(parkedIds.length);
  }
});

test("find_due_jobs_in_turn reads past no backlog where few versions are registered", async () => {
  const few = versions.slice(0, 4);
  const asked = await askedFor("find_due_jobs_in_turn", (db) => findDueJobsInTurn(db, now, few, [], bounds));
  for (const mode of planModes) {
    const { pages, filtered } = await costOf(backlogOnly.client, asked, mode);
    expect(filtered, mode).toBe(0);
    expect(pages, mode).toBeLessThan(100);
  }
});

async function askedFor(name: string, ask: (db: Database) => Promise<unknown>): Promise<Asked> {
  let found: Asked | undefined;
  const query: Database["query"] = async (statement, values) => {
    if (statement.name === name) found = { statement, values };
    return [];
  };
  await ask({ query } as unknown as Database);
  if (found === undefined) throw new Error(`${name} was not asked.`);
  return found;
}

/** Jobs 1 to `count`, called n here. Behind the wake time comes the node, and behind that perhaps the awaited events. */
async function insertJobs(
  client: RowsOnly["client"],
  count: number,
  organization: string,
  job: string,
  status: string,
  wakeAt: string,
  nodeAndEvents: string,
): Promise<void> {
  const columns = nodeAndEvents.includes("ARRAY") ? "node_id, awaiting_event_ids" : "node_id";
  await client.query(
    `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch,
       state, input, submitted_by, created_at, started_at, updated_at, wake_at, ${columns})
     SELECT ${uuidOf(organization)}, ${uuidOf(job)}, ${uuidOf(organization)}, 'w', ${uuidOf(organization)}, 1, '${status}', 1, 1,
       '{}', '{}', '{}', '2026-01-01', '2026-01-01', '2026-01-01', (${wakeAt})::timestamptz, ${nodeAndEvents}
     FROM generate_series(1, ${count}) AS n`,
  );
}
