import { uuid, uuidOf } from "@stepwell/testing/keyed/numbered-id.ts";
import { askedFor, costOf, planModes } from "@stepwell/testing/postgres/plan-cost.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../src/store/home/database.ts";
import { listHeldTasks, listWaitingTasks } from "../../../src/store/jobs/queued-tasks.ts";
import { listBusyQueues } from "../../../src/store/jobs/task-queues.ts";
import { openRowsOnly, type RowsOnly } from "../statements/rows-only.ts";

/**
 * A dashboard asks for the tasks of a queue every few seconds, however many tasks wait in it. Both homes of the store make the same plans, so one is
 * enough.
 */
const taskCount = 20_000;
const heldCount = 3_000;
const at = Date.parse("2026-01-31T12:00:00Z");
const key = { organizationId: uuid(1), queue: "q" };
const limit = 26;
/**
 * The pages of the database that the whole list may cost: 40 for each of its rows. They are the look-ups of the call and its job, the rows themselves,
 * and rows of other lines or of the same worker that are read although the list already has all its rows.
 */
const maxPages = limit * 40;

let rows: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
  const { client } = rows;
  await client.query(
    `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch,
       state, input, submitted_by, created_at, started_at, updated_at, call_count)
     SELECT ${uuidOf("1")}, ${uuidOf("n")}, ${uuidOf("1")}, 'w', ${uuidOf("1")}, 1, 'RUNNING', 1, 1, '{}', '{}', '{}', '2026-01-01', '2026-01-01',
       '2026-01-01', 1
     FROM generate_series(1, ${taskCount + heldCount}) AS n`,
  );
  // One workflow has nearly all tasks, and thirty have a few.
  await client.query(
    `INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, begun, ready_at, queue, priority, workflow_id, queued_at,
       heartbeat_ms, worker, taken_at, lease_until)
     SELECT ${uuidOf("1")}, ${uuidOf("n")}, '', ${uuidOf("1")}, 'work', 1, 1, n > ${taskCount}, queued_at, 'q', 0,
       CASE WHEN n % 50 = 0 THEN ${uuidOf("n / 50 % 30 + 2")} ELSE ${uuidOf("1")} END, queued_at, 60000,
       CASE WHEN n > ${taskCount} THEN 'worker ' || n % 30 END, CASE WHEN n > ${taskCount} THEN queued_at END,
       CASE WHEN n > ${taskCount} THEN queued_at END
     FROM (SELECT n, '2026-01-31T12:00:00Z'::timestamptz + n * interval '1 millisecond' AS queued_at FROM generate_series(1, ${taskCount + heldCount}) AS n)
       AS task`,
  );
  await client.query("VACUUM ANALYZE job, job_call");
}, 60_000);

afterAll(() => rows.close());

const deep = { dueAt: at + 15_000, jobId: uuid(15_000), epoch: 1 };

test.each<[name: string, statement: string, ask: (db: Database) => Promise<unknown>]>([
  ["the first page of waiting tasks", "list_waiting_tasks", (db) => listWaitingTasks(db, key, null, limit)],
  [
    "a page deep in a long line",
    "list_waiting_tasks",
    (db) => listWaitingTasks(db, key, { priority: 0, workflowId: uuid(1), ...deep }, limit),
  ],
  ["the first page of held tasks", "list_held_tasks", (db) => listHeldTasks(db, key, null, limit)],
  ["a page of held tasks", "list_held_tasks", (db) => listHeldTasks(db, key, { worker: "worker 3", ...deep }, limit)],
  ["the names of queues", "list_busy_queues", (db) => listBusyQueues(db, key.organizationId, 100)],
])("%s costs only as much as its rows", async (_name, statement, ask) => {
  const asked = await askedFor(statement, ask);
  for (const mode of planModes) {
    const { pages, filtered, scanned } = await costOf(rows.client, asked, mode);
    expect({ mode, scanned }).toEqual({ mode, scanned: [] });
    expect(pages, mode).toBeLessThan(maxPages);
    expect(filtered, mode).toBeLessThan(limit);
  }
});
