import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, everyPairJoined, type Grouped, organizationsOf } from "../home/key-parts.ts";
import { isWaiting } from "./job-calls.ts";
import type { QueueKey } from "./tasks.ts";
import { waitingLines } from "./waiting-lines.ts";

export interface TaskQueue {
  readonly queue: string;
  /** How many tasks wait, up to `maxCounted`. */
  readonly waitingCount: number;
  /** How many tasks workers hold, up to `maxCounted`. */
  readonly heldCount: number;
  /** The due time of the task that has waited longest in the first `maxLines` lines; null when none waits. */
  readonly oldestDueAt: Timestamp | null;
  /**
   * The time of the last poll by a worker, precise to a few seconds; null for a queue that no worker has polled, or whose row was deleted because no
   * worker polled it for a day.
   */
  readonly polledAt: Timestamp | null;
  /** How many workers polled within the last `recentSeconds`, up to `maxCounted`. */
  readonly workerCount: number;
  readonly pausedAt: Timestamp | null;
  readonly pausedBy: Actor | null;
}

const isHeld = "job_call.lease_until IS NOT NULL";

/** The bound on counts. Counting further would take long, and a larger number would tell nothing more. */
const maxCounted = 10_000;

/** For this time in seconds after its last poll, a worker counts as present. Many workers do not poll while they are busy. */
const recentSeconds = 300;

/** The bound on the lines that are searched for the oldest task. */
const maxLines = 500;

/**
 * Lists queues in the order of their names, beginning after the name `after`. A queue is listed when a task waits in it, when a worker holds one of
 * its tasks, when a worker has polled it within the last day, or when it is paused.
 */
export async function listTaskQueues(
  db: Queryable,
  organizationId: string,
  after: string | null,
  limit: number,
): Promise<TaskQueue[]> {
  const named = await db.query(listQueueNames, [organizationId, after ?? "", limit]);
  return await readTaskQueues(
    db,
    organizationId,
    named.map(({ queue }) => queue),
  );
}

const listQueueNames = statement<{ queue: string }>(
  "list_queue_names",
  "organization",
  `WITH RECURSIVE ${queuesOfTasks("waiting", isWaiting)}, ${queuesOfTasks("held", isHeld)}
   SELECT queue FROM (
     (SELECT queue FROM waiting LIMIT $3)
     UNION
     (SELECT queue FROM held LIMIT $3)
     UNION
     (SELECT queue FROM task_queue WHERE task_queue.organization_id = $1 AND task_queue.queue > $2 ORDER BY queue LIMIT $3)
   ) AS named
   ORDER BY queue LIMIT $3`,
);

/**
 * The part of a WITH RECURSIVE that finds the queues with tasks that meet this condition, beginning after the name $2. It goes from one queue to the
 * next by the index.
 */
function queuesOfTasks(name: string, isMeant: string): string {
  return `${name} AS (
     (SELECT queue FROM job_call WHERE job_call.organization_id = $1 AND job_call.queue > $2 AND ${isMeant} ORDER BY queue LIMIT 1)
     UNION ALL
     SELECT next.queue
     FROM ${name}
     CROSS JOIN LATERAL (
       SELECT queue FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue > ${name}.queue AND ${isMeant}
       ORDER BY queue LIMIT 1
     ) AS next
   )`;
}

/** Lists queues with tasks, in the order of their names. */
export async function listBusyQueues(db: Queryable, organizationId: string, limit: number): Promise<string[]> {
  return (await db.query(listBusyQueueNames, [organizationId, "", limit])).map(({ queue }) => queue);
}

const listBusyQueueNames = statement<{ queue: string }>(
  "list_busy_queues",
  "organization",
  `WITH RECURSIVE ${queuesOfTasks("waiting", isWaiting)}, ${queuesOfTasks("held", isHeld)}
   SELECT queue FROM ((SELECT queue FROM waiting LIMIT $3) UNION (SELECT queue FROM held LIMIT $3)) AS busy ORDER BY queue LIMIT $3`,
);

export async function listOrganizationsWithTasks(db: Queryable, limit: number): Promise<string[]> {
  return (await db.query(listOrganizationIdsWithTasks, [limit])).map(({ organizationId }) => organizationId);
}

const listOrganizationIdsWithTasks = statement<{ organizationId: string }>(
  "list_organizations_with_tasks",
  "maintenance",
  `SELECT organization_id AS "organizationId"
   FROM organization
   WHERE EXISTS (SELECT 1 FROM job_call WHERE job_call.organization_id = organization.organization_id AND ${isWaiting})
     OR EXISTS (SELECT 1 FROM job_call WHERE job_call.organization_id = organization.organization_id AND ${isHeld})
   ORDER BY organization_id
   LIMIT $1`,
  "once",
  { order: ["organizationId"] },
);

/** Reads a queue. For a queue that nobody has used, the result is that of an empty queue. */
export async function readTaskQueue(db: Queryable, { organizationId, queue }: QueueKey): Promise<TaskQueue> {
  const [found] = await readTaskQueues(db, organizationId, [queue]);
  if (found === undefined) throw new Error("A queue was not measured.");
  return found;
}

export async function readTaskQueues(
  db: Queryable,
  organizationId: string,
  queues: readonly string[],
): Promise<TaskQueue[]> {
  const measured: TaskQueue[] = [];
  for (let first = 0; first < queues.length; first += maxQueuesAtOnce) {
    const names = queues.slice(first, first + maxQueuesAtOnce);
    const values = [organizationId, names, maxCounted, maxLines, recentSeconds];
    measured.push(...(await db.query(measureQueues, values)));
  }
  return measured;
}

/**
 * The bound on the queues that are counted at once. Counting takes milliseconds for each long queue, and on the embedded store nothing else happens
 * meanwhile.
 */
const maxQueuesAtOnce = 5;

const measureQueues = statement<TaskQueue>(
  "measure_queues",
  "organization",
  `SELECT wanted.queue, waiting.count AS "waitingCount", held.count AS "heldCount", oldest.queued_at AS "oldestDueAt",
     task_queue.polled_at AS "polledAt", workers.count AS "workerCount", task_queue.paused_at AS "pausedAt",
     task_queue.paused_by AS "pausedBy"
   FROM unnest($2::text[]) AS wanted (queue)
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS count FROM (
       SELECT 1 FROM job_call WHERE job_call.organization_id = $1 AND job_call.queue = wanted.queue AND ${isWaiting} LIMIT $3) AS one
   ) AS waiting
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS count FROM (
       SELECT 1 FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue = wanted.queue AND ${isHeld} LIMIT $3) AS one
   ) AS held
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS count FROM (
       SELECT 1 FROM task_worker
       WHERE task_worker.organization_id = $1 AND task_worker.queue = wanted.queue
         AND task_worker.polled_at > now() - $5::integer * interval '1 second' LIMIT $3) AS one
   ) AS workers
   CROSS JOIN LATERAL (
     WITH RECURSIVE ${waitingLines("wanted.queue")}
     SELECT min(first.queued_at) AS queued_at
     FROM (SELECT priority, workflow_id FROM line LIMIT $4) AS lines
     CROSS JOIN LATERAL (
       SELECT queued_at FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue = wanted.queue AND ${isWaiting} AND job_call.priority = lines.priority
         AND job_call.workflow_id = lines.workflow_id
       ORDER BY queued_at LIMIT 1
     ) AS first
   ) AS oldest
   LEFT JOIN task_queue ON task_queue.organization_id = $1 AND task_queue.queue = wanted.queue
   ORDER BY wanted.queue`,
);

export interface TaskWorker {
  readonly worker: string;
  readonly firstPolledAt: Timestamp;
  /** The time of the worker's last poll, precise to a few seconds. */
  readonly polledAt: Timestamp;
  readonly heldCount: number;
}

/** Lists the workers that polled a queue within the last day, the most recent first. */
export async function listTaskWorkers(
  db: Queryable,
  { organizationId, queue }: QueueKey,
  limit: number,
): Promise<TaskWorker[]> {
  return await db.query(listTaskWorkerRows, [organizationId, queue, limit, maxCounted]);
}

const listTaskWorkerRows = statement<TaskWorker>(
  "list_task_workers",
  "organization",
  `SELECT seen.worker, seen.first_polled_at AS "firstPolledAt", seen.polled_at AS "polledAt", held.count AS "heldCount"
   FROM (
     SELECT worker, first_polled_at, polled_at FROM task_worker
     WHERE task_worker.organization_id = $1 AND task_worker.queue = $2
     ORDER BY polled_at DESC, worker LIMIT $3
   ) AS seen
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS count FROM (
       SELECT 1 FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue = $2 AND job_call.worker = seen.worker AND ${isHeld}
       LIMIT $4) AS one
   ) AS held
   ORDER BY seen.polled_at DESC, seen.worker`,
);

/** A worker that polled a queue. */
export interface SeenWorker extends QueueKey {
  readonly worker: string;
}

/** Notes that these workers polled their queues, for one group of organizations. No worker may occur twice for the same queue. */
export async function noteWorkers(
  transaction: Transaction,
  workers: readonly SeenWorker[],
  at: Timestamp,
): Promise<void> {
  if (workers.length === 0) return;
  const rows = workers.map(({ organizationId, queue, worker }) => ({ organization_id: organizationId, queue, worker }));
  const queues = new Map(
    rows.map(({ organization_id, queue }) => [`${organization_id} ${queue}`, { organization_id, queue }]),
  );
  const [organizations, time] = [organizationsOf(workers), new Date(at).toISOString()];
  await transaction.query(putPolledQueues, [JSON.stringify([...queues.values()]), organizations, time]);
  await transaction.query(putSeenWorkers, [JSON.stringify(rows), organizations, time]);
}

const putPolledQueues = statement<never>(
  "put_polled_queues",
  "organization",
  `INSERT INTO task_queue (organization_id, queue, polled_at)
   SELECT organization.organization_id, queue, $3::timestamptz
   FROM json_to_recordset($1) AS new (organization_id uuid, queue text)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   ORDER BY organization.organization_id, queue
   ON CONFLICT (organization_id, queue) DO UPDATE SET polled_at = excluded.polled_at`,
);

const putSeenWorkers = statement<never>(
  "put_seen_workers",
  "organization",
  `INSERT INTO task_worker (organization_id, queue, worker, first_polled_at, polled_at)
   SELECT organization.organization_id, queue, worker, $3::timestamptz, $3::timestamptz
   FROM json_to_recordset($1) AS new (organization_id uuid, queue text, worker text)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   ORDER BY organization.organization_id, queue, worker
   ON CONFLICT (organization_id, queue, worker) DO UPDATE SET polled_at = excluded.polled_at`,
);

/** Deletes workers that did not poll for a day, up to `limit` of them. Returns the queue of each. */
export async function deleteOldWorkers(db: Grouped, limit: number): Promise<QueueKey[]> {
  const found = await db.query(findOldWorkerRows, [limit]);
  const deletePart = (part: readonly SeenWorker[]) =>
    db.query(deleteOldWorkerRows, [
      organizationsOf(part),
      part.map(({ organizationId }) => organizationId),
      part.map(({ queue }) => queue),
      part.map(({ worker }) => worker),
    ]);
  return await askInParts(found, deletePart, everyPairJoined, db);
}

const findOldWorkerRows = statement<SeenWorker>(
  "find_old_workers",
  "maintenance",
  `SELECT organization_id AS "organizationId", queue, worker
   FROM task_worker
   WHERE polled_at < now() - interval '1 day'
   LIMIT $1`,
);

const deleteOldWorkerRows = statement<QueueKey>(
  "delete_old_workers",
  "organization",
  `DELETE FROM task_worker
   USING unnest($2::uuid[], $3::text[], $4::text[]) AS wanted (organization_id, queue, worker)
   WHERE task_worker.organization_id = ANY($1::uuid[]) AND task_worker.queue = ANY($3::text[])
     AND task_worker.organization_id = wanted.organization_id AND task_worker.queue = wanted.queue
     AND task_worker.worker = wanted.worker AND task_worker.polled_at < now() - interval '1 day'
   RETURNING task_worker.organization_id AS "organizationId", task_worker.queue`,
);

/**
 * Deletes the rows of these queues if no worker polled them for a day. This is needed because any worker may poll a queue of any name. The row
 * of a paused queue stays. Any other row is deleted even while workers hold tasks of the queue: the tasks do not need the row, and nothing would
 * delete it later.
 */
export async function deleteIdleQueues(db: Grouped, queues: readonly QueueKey[]): Promise<void> {
  const distinct = [...new Map(queues.map((key) => [`${key.organizationId} ${key.queue}`, key])).values()];
  const ask = (part: readonly QueueKey[]) =>
    db.query(deleteIdleQueueRows, [
      organizationsOf(part),
      part.map(({ organizationId }) => organizationId),
      part.map(({ queue }) => queue),
    ]);
  await askInParts(distinct, ask, everyPairJoined, db);
}

const deleteIdleQueueRows = statement<never>(
  "delete_idle_queues",
  "organization",
  `DELETE FROM task_queue
   USING unnest($2::uuid[], $3::text[]) AS wanted (organization_id, queue)
   WHERE task_queue.organization_id = ANY($1::uuid[]) AND task_queue.queue = ANY($3::text[])
     AND task_queue.organization_id = wanted.organization_id AND task_queue.queue = wanted.queue
     AND paused_at IS NULL AND polled_at < now() - interval '1 day'`,
);

/** Pauses a queue, or resumes it (null). Returns false when nothing changed. */
export async function setQueuePaused(
  transaction: Transaction,
  { organizationId, queue }: QueueKey,
  paused: { readonly at: Timestamp; readonly by: Actor } | null,
): Promise<boolean> {
  if (paused !== null) {
    const values = [organizationId, queue, new Date(paused.at).toISOString(), JSON.stringify(paused.by)];
    return (await transaction.query(pauseQueue, values)).length > 0;
  }
  const forgotten = await transaction.query(forgetPausedQueue, [organizationId, queue]);
  return forgotten.length > 0 || (await transaction.query(resumeQueue, [organizationId, queue])).length > 0;
}

const pauseQueue = statement<{ queue: string }>(
  "pause_queue",
  "organization",
  `INSERT INTO task_queue (organization_id, queue, paused_at, paused_by)
   VALUES ($1, $2, $3, $4)
   ON CONFLICT (organization_id, queue) DO UPDATE SET paused_at = excluded.paused_at, paused_by = excluded.paused_by
   WHERE task_queue.paused_at IS NULL
   RETURNING queue`,
);

/** A queue that no worker has polled for a day has a row only because it is paused. So resuming deletes the row: nothing else would. */
const forgetPausedQueue = statement<{ queue: string }>(
  "forget_paused_queue",
  "organization",
  `DELETE FROM task_queue
   WHERE organization_id = $1 AND queue = $2 AND paused_at IS NOT NULL
     AND (polled_at IS NULL OR polled_at < now() - interval '1 day')
   RETURNING queue`,
);

const resumeQueue = statement<{ queue: string }>(
  "resume_queue",
  "organization",
  `UPDATE task_queue SET paused_at = NULL, paused_by = NULL
   WHERE organization_id = $1 AND queue = $2 AND paused_at IS NOT NULL
   RETURNING queue`,
);
