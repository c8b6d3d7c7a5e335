import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { CallKey } from "./job-calls.ts";
import { isWaiting } from "./job-calls.ts";
import type { QueueKey } from "./tasks.ts";
import { waitingLines } from "./waiting-lines.ts";

/** A task that waits in a queue, or that a worker holds. */
export interface QueuedTask extends CallKey {
  readonly workflowId: string;
  readonly workflowName: string;
  readonly priority: number;
  readonly dueAt: Timestamp;
  readonly timeoutAt: Timestamp | null;
  /** The worker that holds it; null while it waits. */
  readonly worker: string | null;
  readonly takenAt: Timestamp | null;
  readonly leaseUntil: Timestamp | null;
  /** The progress that the worker reported last. */
  readonly progress: JsonValue | null;
}

const queuedTaskColumns = `task.organization_id AS "organizationId", task.job_id AS "jobId", task.branch, task.step, task.visit, task.epoch,
     task.workflow_id AS "workflowId", job.workflow_name AS "workflowName", task.priority, task.queued_at AS "dueAt", task.timeout_at AS "timeoutAt",
     task.worker, task.taken_at AS "takenAt", task.lease_until AS "leaseUntil", task.progress`;

/** A place in the list of tasks that wait. */
export type WaitingPlace = Pick<QueuedTask, "priority" | "workflowId" | "dueAt" | "jobId" | "epoch">;

/**
 * Lists the waiting tasks after the place `after`: the highest priority first, then by workflow, and within a workflow the task that has been due
 * longest first. The index has them in another order, so the search reads the lines one after the other and takes the first tasks of each.
 */
export async function listWaitingTasks(
  db: Queryable,
  { organizationId, queue }: QueueKey,
  after: WaitingPlace | null,
  limit: number,
): Promise<QueuedTask[]> {
  const { priority, workflowId, dueAt, jobId, epoch } = after ?? beforeAll;
  const values = [organizationId, queue, priority, workflowId, new Date(dueAt).toISOString(), jobId, epoch, limit];
  return await db.query(listWaitingTaskRows, values);
}

const nil = "00000000-0000-0000-0000-000000000000";
const beforeAll: WaitingPlace = {
  priority: 32_767,
  workflowId: "ffffffff-ffff-ffff-ffff-ffffffffffff",
  dueAt: 0,
  jobId: nil,
  epoch: 0,
};

const listWaitingTaskRows = statement<QueuedTask>(
  "list_waiting_tasks",
  "organization",
  `WITH RECURSIVE ${waitingLines("$2", "(job_call.priority, job_call.workflow_id) <= ($3::smallint, $4::uuid)")}
   SELECT ${queuedTaskColumns}
   FROM (
     SELECT found.*
     FROM (SELECT priority, workflow_id FROM line LIMIT $8) AS line
     CROSS JOIN LATERAL (
       SELECT * FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue = $2 AND ${isWaiting} AND job_call.priority = line.priority
         AND job_call.workflow_id = line.workflow_id
         AND (job_call.queued_at, job_call.job_id, job_call.epoch) > (
           CASE WHEN (line.priority, line.workflow_id) = ($3, $4) THEN $5::timestamptz ELSE '-infinity' END, $6::uuid, $7::integer)
       ORDER BY job_call.queued_at, job_call.job_id, job_call.epoch
       LIMIT $8
     ) AS found
     ORDER BY found.priority DESC, found.workflow_id DESC, found.queued_at, found.job_id, found.epoch
     LIMIT $8
   ) AS task
   JOIN job ON job.organization_id = $1 AND job.job_id = task.job_id
   ORDER BY task.priority DESC, task.workflow_id DESC, task.queued_at, task.job_id, task.epoch`,
);

/** A place in the list of tasks that workers hold. */
export interface HeldPlace extends Pick<QueuedTask, "dueAt" | "jobId" | "epoch"> {
  readonly worker: string;
}

/**
 * Lists the tasks that workers hold, beginning after the place `after`. The list is ordered by worker; for each worker, the task that has been due
 * longest comes first.
 */
export async function listHeldTasks(
  db: Queryable,
  { organizationId, queue }: QueueKey,
  after: HeldPlace | null,
  limit: number,
): Promise<QueuedTask[]> {
  const { worker, dueAt, jobId, epoch } = after ?? { ...beforeAll, worker: "" };
  return await db.query(listHeldTaskRows, [
    organizationId,
    queue,
    worker,
    new Date(dueAt).toISOString(),
    jobId,
    epoch,
    limit,
  ]);
}

const listHeldTaskRows = statement<QueuedTask>(
  "list_held_tasks",
  "organization",
  `SELECT ${queuedTaskColumns}
   FROM (
     SELECT * FROM job_call
     WHERE job_call.organization_id = $1 AND job_call.queue = $2 AND job_call.lease_until IS NOT NULL
       AND (job_call.worker, job_call.queued_at, job_call.job_id, job_call.epoch) > ($3::text, $4::timestamptz, $5::uuid, $6::integer)
     ORDER BY job_call.worker, job_call.queued_at, job_call.job_id, job_call.epoch
     LIMIT $7
   ) AS task
   JOIN job ON job.organization_id = $1 AND job.job_id = task.job_id
   ORDER BY task.worker, task.queued_at, task.job_id, task.epoch`,
);
