import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import { askInParts, eachAlone, everyPairJoined, type Grouped, organizationsOf } from "../home/key-parts.ts";
import type { VersionKey } from "../workflows/versions.ts";
import { type CallKey, callArrays, callColumns, isWaiting, isWantedCall, wantedCalls } from "./job-calls.ts";
import { type LeftOut, leftOutValues } from "./jobs.ts";

/** A queue of tasks of one organization. */
export interface QueueKey {
  readonly organizationId: string;
  readonly queue: string;
}

/** Finds the queues among these in which tasks wait. */
export async function findQueuesWithTasks(db: Grouped, queues: readonly QueueKey[]): Promise<QueueKey[]> {
  const ask = (part: readonly QueueKey[]) =>
    db.query(findQueueRowsWithTasks, [
      organizationsOf(part),
      part.map(({ organizationId }) => organizationId),
      part.map(({ queue }) => queue),
    ]);
  return await askInParts(queues, ask, eachAlone, db);
}

const findQueueRowsWithTasks = statement<QueueKey>(
  "find_queues_with_tasks",
  "organization",
  `SELECT wanted_organization_id AS "organizationId", wanted_queue AS queue
   FROM unnest($2::uuid[], $3::text[]) AS wanted (wanted_organization_id, wanted_queue)
   CROSS JOIN LATERAL (
     SELECT 1 FROM job_call
     WHERE job_call.organization_id = ANY($1::uuid[]) AND job_call.organization_id = wanted_organization_id
       AND job_call.queue = wanted_queue AND ${isWaiting}
     LIMIT 1 OFFSET 0
   ) AS found`,
);

/** The tasks of one workflow and one priority that wait in a queue. */
export interface WaitingLine {
  readonly priority: number;
  readonly workflowId: string;
}

/**
 * Finds lines of tasks that wait in a queue: up to `count` lines of the highest priority, in the order of their workflows, beginning after the
 * workflow `after`. After the last workflow, they go on with the first. If tasks of lower priority wait too, one line of them follows. If the queue
 * is paused, nothing is found. The search goes from one line to the next by the index, so it does not read all tasks of a long line.
 */
export async function findWaitingLines(
  db: Queryable,
  { organizationId, queue }: QueueKey,
  after: string | undefined,
  count: number,
): Promise<WaitingLine[]> {
  return await db.query(findWaitingLineRows, [organizationId, queue, after ?? firstId, count]);
}

/** No workflow has one of these ids, and all other ids are between them. */
const [firstId, lastId] = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

const isNotPaused = `NOT EXISTS (
       SELECT 1 FROM task_queue WHERE task_queue.organization_id = $1 AND task_queue.queue = $2 AND paused_at IS NOT NULL)`;
const waitsHere = `job_call.organization_id = $1 AND job_call.queue = $2 AND ${isWaiting}`;

// Round 0 goes from `after` to the last workflow, and round 1 from the first workflow up to `after`. The index checks both bounds. If a filter
// checked them, the search would read all tasks beyond the bound.
const findWaitingLineRows = statement<WaitingLine>(
  "find_waiting_lines",
  "organization",
  `WITH RECURSIVE highest AS (
     SELECT priority FROM job_call WHERE ${waitsHere} AND ${isNotPaused} ORDER BY priority DESC LIMIT 1
   ), line AS (
     SELECT turn.round, 0 AS place, highest.priority, turn.behind AS workflow_id, turn.up_to
     FROM highest
     CROSS JOIN (VALUES (0, $3::uuid, '${lastId}'::uuid), (1, '${firstId}'::uuid, $3::uuid)) AS turn (round, behind, up_to)
     UNION ALL
     SELECT line.round, line.place + 1, line.priority, next.workflow_id, line.up_to
     FROM line
     CROSS JOIN LATERAL (
       SELECT job_call.workflow_id FROM job_call
       WHERE ${waitsHere} AND job_call.priority = line.priority AND job_call.workflow_id > line.workflow_id AND job_call.workflow_id <= line.up_to
       ORDER BY job_call.workflow_id LIMIT 1
     ) AS next
     WHERE line.place < $4
   )
   SELECT priority, workflow_id AS "workflowId"
   FROM (
     (SELECT round, priority, workflow_id FROM line WHERE place > 0 ORDER BY round, workflow_id LIMIT $4)
     UNION ALL
     (SELECT 2, job_call.priority, job_call.workflow_id FROM job_call
      WHERE ${waitsHere} AND job_call.priority < (SELECT priority FROM highest)
      ORDER BY job_call.priority DESC LIMIT 1)
   ) AS found
   ORDER BY round, workflow_id`,
);

export interface TakenTask extends CallKey, VersionKey, QueueKey {
  readonly workflowId: string;
  /** The position, from 1, of the worker to which the task was dealt. */
  readonly place: number;
  readonly dueAt: Timestamp;
  readonly leaseUntil: Timestamp;
  readonly heartbeatMs: number;
  readonly timeoutAt: Timestamp | null;
}

/**
 * Deals waiting tasks of these lines to workers: the n-th task to the n-th worker, and at most `share` tasks of each line. Tasks that another
 * transaction has locked are skipped. From now on each worker holds its task for the length of the task's heartbeat.
 */
export async function takeTasks(
  db: Queryable,
  { organizationId, queue }: QueueKey,
  lines: readonly WaitingLine[],
  share: number,
  workers: readonly string[],
): Promise<TakenTask[]> {
  const [priorities, workflowIds] = [lines.map(({ priority }) => priority), lines.map(({ workflowId }) => workflowId)];
  return await db.query(takeTaskRows, [organizationId, queue, priorities, workflowIds, share, workers]);
}

// `epoch` orders the tasks of one job. It is not in the index, because it changes with each call of a job, and each time the index would be written
// again. The inner WITH makes sure that the rows are chosen once under any plan. A subquery might run again for each row that it is joined to.
const takeTaskRows = statement<TakenTask>(
  "take_tasks",
  "organization",
  `UPDATE job_call
   SET begun = true, worker = ($6::text[])[due.place], taken_at = now(), lease_until = now() + heartbeat_ms * interval '1 millisecond'
   FROM (
     WITH chosen AS MATERIALIZED (
       SELECT found.job_id, found.branch, (row_number() OVER ())::integer AS place
       FROM unnest($3::smallint[], $4::uuid[]) AS line (priority, workflow_id)
       CROSS JOIN LATERAL (
         SELECT job_call.job_id, job_call.branch FROM job_call
         WHERE job_call.organization_id = $1 AND job_call.queue = $2 AND ${isWaiting} AND job_call.priority = line.priority
           AND job_call.workflow_id = line.workflow_id AND ${isNotPaused}
         ORDER BY job_call.queued_at, job_call.job_id, job_call.epoch
         LIMIT $5
         FOR UPDATE SKIP LOCKED
       ) AS found
       LIMIT cardinality($6::text[])
     )
     SELECT job_id, branch, place FROM chosen
   ) AS due
   WHERE job_call.organization_id = $1 AND job_call.job_id = due.job_id AND job_call.branch = due.branch
   RETURNING job_call.organization_id AS "organizationId", job_call.job_id AS "jobId", job_call.branch, job_call.step, job_call.visit,
     job_call.epoch, job_call.version_id AS "versionId", job_call.workflow_id AS "workflowId", job_call.queue, due.place, job_call.ready_at AS "dueAt",
     job_call.lease_until AS "leaseUntil", job_call.heartbeat_ms AS "heartbeatMs", job_call.timeout_at AS "timeoutAt"`,
);

/** Puts back tasks that no worker has received. */
export async function putTasksBack(db: Grouped, calls: readonly CallKey[]): Promise<void> {
  await askInParts(calls, (part) => db.query(putTaskRowsBack, callArrays(part)), everyPairJoined, db);
}

const putTaskRowsBack = statement<never>(
  "put_tasks_back",
  "organization",
  `UPDATE job_call
   SET begun = false, worker = NULL, taken_at = NULL, lease_until = NULL
   FROM ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch)
   WHERE ${isWantedCall} AND job_call.node_id IS NULL`,
);

/**
 * Renews a worker's lease for the task's `heartbeatSeconds` from now, and stores its progress; null keeps the former progress. Returns the time at
 * which the lease ends; undefined when the worker does not hold the task any more, or when another transaction has locked the task (`holdsTask` tells
 * which).
 */
export async function holdTask(db: Queryable, call: CallKey, progress: JsonValue): Promise<Timestamp | undefined> {
  const text = progress === null ? null : JSON.stringify(progress);
  const [row] = await db.query(holdTaskRow, [...keyOf(call), text]);
  return row?.leaseUntil;
}

const isHeldTask = `job_call.organization_id = $1 AND job_call.job_id = $2 AND job_call.branch = $3 AND job_call.epoch = $4
     AND job_call.step = $5 AND job_call.visit = $6 AND job_call.node_id IS NULL AND job_call.lease_until IS NOT NULL`;

// The conditions on the key are repeated, so that both sides are read by the primary key under any plan.
const holdTaskRow = statement<{ leaseUntil: Timestamp }>(
  "hold_task",
  "organization",
  `UPDATE job_call
   SET lease_until = now() + heartbeat_ms * interval '1 millisecond', progress = coalesce($7::json, progress)
   FROM (SELECT FROM job_call WHERE ${isHeldTask} FOR UPDATE SKIP LOCKED) AS free
   WHERE job_call.organization_id = $1 AND job_call.job_id = $2 AND job_call.branch = $3
   RETURNING lease_until AS "leaseUntil"`,
);

/** Whether the worker holds the task, even if another transaction has locked it. */
export async function holdsTask(db: Queryable, call: CallKey): Promise<boolean> {
  const rows = await db.query(findHeldTaskRow, keyOf(call));
  return rows.length > 0;
}

const findHeldTaskRow = statement<{ jobId: string }>(
  "find_held_task",
  "organization",
  `SELECT job_call.job_id AS "jobId" FROM job_call WHERE ${isHeldTask}`,
);

function keyOf({ organizationId, jobId, branch, epoch, step, visit }: CallKey): readonly unknown[] {
  return [organizationId, jobId, branch, epoch, step, visit];
}

/** A task, or a call for a child job, and the version of the job that made it. */
export interface FoundTask extends CallKey, VersionKey {
  /** False for a call whose outcome a child job reports. */
  readonly isTask: boolean;
}

const foundTaskColumns = `${callColumns}, version_id AS "versionId", queue IS NOT NULL AS "isTask"`;

/** Finds tasks whose workers' leases have run out, beginning with the lease that ran out first. */
export async function findLostTasks(db: Queryable, leftOut: LeftOut, limit: number): Promise<FoundTask[]> {
  return await db.query(findLostTaskRows, [...leftOutValues(leftOut), limit]);
}

const findLostTaskRows = statement<FoundTask>(
  "find_lost_tasks",
  "maintenance",
  `SELECT ${foundTaskColumns}
   FROM job_call
   WHERE lease_until < now() AND node_id IS NULL AND version_id <> ALL($1::uuid[]) AND job_id <> ALL($2::uuid[])
     AND organization_id <> ALL($3::uuid[])
   ORDER BY lease_until
   LIMIT $4`,
  "once",
  { restMs: 5_000 },
);

/**
 * Takes tasks over from workers whose leases have run out, for one group of organizations. This node then holds them, and must tell their jobs that
 * the worker is lost. Returns the tasks that were taken. The others are over or were taken by another node, or their workers have renewed the leases.
 */
export async function takeLostTasks(db: Queryable, nodeId: string, calls: readonly CallKey[]): Promise<CallKey[]> {
  return await askInParts(calls, (part) => db.query(takeLostTaskRows, [...callArrays(part), nodeId]), everyPairJoined);
}

// With coalesce, the planner does not use the index of the leases. With that index it would read all lost tasks again for each part of the keys.
const takeLostTaskRows = statement<CallKey>(
  "take_lost_tasks",
  "organization",
  `UPDATE job_call
   SET node_id = $5, ready_at = now()
   FROM ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch)
   WHERE ${isWantedCall} AND job_call.node_id IS NULL AND coalesce(job_call.lease_until < now(), false)
   RETURNING job_call.organization_id AS "organizationId", job_call.job_id AS "jobId", job_call.branch, job_call.step,
     job_call.visit, job_call.epoch`,
);

/** Finds tasks, and calls for child jobs, whose whole time is up. Begins with the one whose time was up first. */
export async function findTimedOutTasks(db: Queryable, leftOut: LeftOut, limit: number): Promise<FoundTask[]> {
  return await db.query(findTimedOutTaskRows, [...leftOutValues(leftOut), limit]);
}

const findTimedOutTaskRows = statement<FoundTask>(
  "find_timed_out_tasks",
  "maintenance",
  `SELECT ${foundTaskColumns}
   FROM job_call
   WHERE timeout_at <= now() AND version_id <> ALL($1::uuid[]) AND job_id <> ALL($2::uuid[])
     AND organization_id <> ALL($3::uuid[])
   ORDER BY timeout_at
   LIMIT $4`,
  "once",
  { restMs: 5_000 },
);
