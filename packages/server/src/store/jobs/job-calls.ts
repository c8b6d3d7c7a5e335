import type { CallName } from "../../core/job/call.ts";
import type { Task } from "../../core/job/fact.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, askTogether, everyPair, everyPairJoined, organizationsOf } from "../home/key-parts.ts";
import { requireAllWritten } from "../home/written.ts";
import type { VersionKey } from "../workflows/versions.ts";
import { type JobKey, keyArrays, type LeftOut, leftOutValues } from "./jobs.ts";

export interface CallKey extends JobKey, CallName {}

/** The change that one commit makes to the calls of a job. */
export interface ChangedCalls extends JobKey {
  readonly versionId: string;
  readonly workflowId: string;
  readonly ended: readonly CallName[];
  readonly made: readonly MadeCall[];
  /** The number of calls that the job has afterwards. */
  readonly callCount: number;
}

export interface MadeCall extends CallName {
  /** Whether the call begins as soon as the commit has landed. */
  readonly begun: boolean;
  /** The task; left out for a call that a node makes. */
  readonly task?: Task | undefined;
  /**
   * A worker that waits for a task of this queue. It holds the task from the beginning, unless the queue is paused or another task already waits in
   * it.
   */
  readonly worker?: string | undefined;
}

/** A task that a worker holds from the beginning. */
export interface HandedTask {
  readonly jobId: string;
  readonly branch: string;
  readonly leaseUntil: Timestamp;
}

/**
 * Writes new calls, as calls of this node or as tasks, and deletes calls that are over. Returns the tasks that workers hold from the beginning.
 */
export async function writeCalls(
  transaction: Transaction,
  { nodeId, readyAt }: { readonly nodeId: string; readonly readyAt: Timestamp },
  jobs: readonly ChangedCalls[],
): Promise<readonly HandedTask[]> {
  const made = jobs.flatMap((job) => job.made.map((call) => rowOf(job, call)));
  const ended = jobs.filter((job) => job.ended.length > 0);
  const [, , written] = await Promise.all([
    deleteAllCalls(
      transaction,
      ended.filter(({ callCount }) => callCount === 0),
    ),
    deleteCalls(
      transaction,
      ended.flatMap((job) => (job.callCount === 0 ? [] : job.ended.map((call) => ({ ...job, ...call })))),
    ),
    made.length === 0
      ? []
      : transaction.query(made.some((row) => "queue" in row) ? putTaskRows : putCallRows, [
          JSON.stringify(made),
          organizationsOf(jobs),
          nodeId,
          new Date(readyAt).toISOString(),
        ]),
  ]);
  requireAllWritten(written, made.length, "calls");
  return written.flatMap(({ leaseUntil, ...call }) => (leaseUntil == null ? [] : { ...call, leaseUntil }));
}

/** The columns of a task are cleared, because the branch may have had a task before. */
const noTask = `queue = NULL, priority = NULL, workflow_id = NULL, queued_at = NULL, heartbeat_ms = NULL, timeout_at = NULL,
     child_job_id = NULL, worker = NULL, taken_at = NULL, lease_until = NULL, progress = NULL`;
/** A task that no worker has taken. */
export const isWaiting = "job_call.queue IS NOT NULL AND job_call.lease_until IS NULL";

/** A written call. It has `leaseUntil` only if it is a task that a worker holds from the beginning. */
type WrittenCall = Omit<HandedTask, "leaseUntil"> & { readonly leaseUntil?: Timestamp | null };

const writtenCallColumns = `job_call.job_id AS "jobId", job_call.branch`;

const putCallRows = statement<WrittenCall>(
  "put_job_calls",
  "organization",
  `INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, node_id, begun, ready_at)
   SELECT organization.organization_id, job_id, branch, version_id, step, visit, epoch, $3::uuid, begun, $4::timestamptz
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, branch text, version_id uuid, step text, visit integer, epoch integer,
     begun boolean)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   ON CONFLICT (organization_id, job_id, branch) DO UPDATE
   SET step = excluded.step, visit = excluded.visit, epoch = excluded.epoch, node_id = excluded.node_id, begun = excluded.begun,
     ready_at = excluded.ready_at, ${noTask}
   RETURNING ${writtenCallColumns}`,
);

/**
 * Whether a worker holds the new task from the beginning. The statement finds out with min() whether another task waits, because min() reads one
 * entry of the index. For an EXISTS the planner might list all waiting tasks, and with a LIMIT Citus would not send the statement to one shard.
 */
const isNext = "(new.worker IS NOT NULL AND NOT pause.is_there AND waiting.priority IS NULL)";

const putTaskRows = statement<WrittenCall>(
  "put_tasks",
  "organization",
  `INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, node_id, begun, ready_at,
     queue, priority, workflow_id, queued_at, heartbeat_ms, timeout_at, worker, taken_at, lease_until)
   SELECT organization.organization_id, job_id, branch, version_id, step, visit, epoch, CASE WHEN queue IS NULL THEN $3::uuid END,
     begun OR ${isNext}, $4::timestamptz, queue, new.priority, workflow_id, CASE WHEN queue IS NOT NULL THEN $4::timestamptz END,
     heartbeat_ms, timeout_at, CASE WHEN ${isNext} THEN worker END, CASE WHEN ${isNext} THEN now() END,
     CASE WHEN ${isNext} THEN now() + heartbeat_ms * interval '1 millisecond' END
   FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid, branch text, version_id uuid, step text, visit integer, epoch integer,
     begun boolean, queue text, priority smallint, workflow_id uuid, heartbeat_ms integer, timeout_at timestamptz, worker text)
   JOIN organization ON organization.organization_id = new.organization_id
   CROSS JOIN LATERAL (
     SELECT count(*) > 0 AS is_there FROM task_queue
     WHERE task_queue.organization_id = ANY($2::uuid[]) AND task_queue.organization_id = new.organization_id
       AND task_queue.queue = new.queue AND paused_at IS NOT NULL AND new.worker IS NOT NULL
   ) AS pause
   CROSS JOIN LATERAL (
     SELECT min(job_call.priority) AS priority FROM job_call
     WHERE job_call.organization_id = ANY($2::uuid[]) AND job_call.organization_id = new.organization_id
       AND job_call.queue = new.queue AND ${isWaiting} AND new.worker IS NOT NULL
   ) AS waiting
   WHERE organization.organization_id = ANY($2::uuid[])
   ON CONFLICT (organization_id, job_id, branch) DO UPDATE
   SET step = excluded.step, visit = excluded.visit, epoch = excluded.epoch, node_id = excluded.node_id, begun = excluded.begun,
     ready_at = excluded.ready_at, queue = excluded.queue, priority = excluded.priority, workflow_id = excluded.workflow_id,
     queued_at = excluded.queued_at, heartbeat_ms = excluded.heartbeat_ms, timeout_at = excluded.timeout_at, worker = excluded.worker,
     taken_at = excluded.taken_at, lease_until = excluded.lease_until, progress = NULL, child_job_id = NULL
   RETURNING ${writtenCallColumns}, job_call.lease_until AS "leaseUntil"`,
);

function rowOf({ organizationId, jobId, versionId, workflowId }: ChangedCalls, { task, worker, ...call }: MadeCall) {
  const { branch, step, visit, epoch, begun } = call;
  const row = {
    organization_id: organizationId,
    job_id: jobId,
    version_id: versionId,
    branch,
    step,
    visit,
    epoch,
    begun,
  };
  if (task === undefined) return row;
  const { queue, priority, heartbeatMs, timeoutAt } = task;
  return {
    ...row,
    ...{ queue, priority },
    workflow_id: workflowId,
    heartbeat_ms: heartbeatMs,
    timeout_at: timeoutAt === null ? null : new Date(timeoutAt).toISOString(),
    ...(worker !== undefined && { worker }),
  };
}

/** Deletes the call rows of jobs that have no calls any more. Most rows are deleted in this way, and the statement needs no join. */
async function deleteAllCalls(transaction: Transaction, jobs: readonly JobKey[]): Promise<void> {
  await askTogether(jobs, (part) => transaction.query(deleteCallsOfJobs, keyArrays(part)), everyPair);
}

const deleteCallsOfJobs = statement<never>(
  "delete_calls_of_jobs",
  "organization",
  "DELETE FROM job_call WHERE organization_id = ANY($1::uuid[]) AND job_id = ANY($2::uuid[])",
);

async function deleteCalls(transaction: Transaction, calls: readonly CallKey[]): Promise<void> {
  await askTogether(calls, (part) => transaction.query(deleteCallRows, callArrays(part)), everyPairJoined);
}

export const wantedCalls = "unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[])";
// For a job with thousands of calls, the condition on the branches bounds the rows that are read. Without it, all of the job's calls would be
// compared with all wanted calls.
export const isWantedCall = `job_call.organization_id = ANY($1::uuid[]) AND job_call.job_id = ANY($2::uuid[]) AND job_call.branch = ANY($3::text[])
     AND job_call.organization_id = wanted.organization_id AND job_call.job_id = wanted.job_id AND job_call.branch = wanted.branch
     AND job_call.epoch = wanted.epoch`;

const deleteCallRows = statement<never>(
  "delete_calls",
  "organization",
  `DELETE FROM job_call
   USING ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch)
   WHERE ${isWantedCall}`,
);

export const callColumns = `organization_id AS "organizationId", job_id AS "jobId", branch, step, visit, epoch`;

export interface HeldCall extends CallKey {
  readonly nodeId: string;
}

/**
 * A call with its holder: a node, the child job that was made for the call, or the worker that took the task. A call with a `queue` is a task, and
 * has no holder while it waits for a worker.
 */
export interface CallRow extends CallKey {
  readonly nodeId: string | null;
  readonly readyAt: Timestamp;
  readonly queue: string | null;
  readonly childJobId: string | null;
  readonly timeoutAt: Timestamp | null;
  readonly worker: string | null;
  readonly takenAt: Timestamp | null;
  readonly leaseUntil: Timestamp | null;
  /** The progress that the worker reported last. */
  readonly progress: JsonValue | null;
}

export async function findCalls(db: Queryable, { organizationId, jobId }: JobKey): Promise<CallRow[]> {
  return await db.query(findCallRows, [organizationId, jobId]);
}

const findCallRows = statement<CallRow>(
  "find_calls",
  "organization",
  `SELECT ${callColumns}, node_id AS "nodeId", ready_at AS "readyAt", queue, child_job_id AS "childJobId", timeout_at AS "timeoutAt", worker, taken_at AS "takenAt",
     lease_until AS "leaseUntil", progress
   FROM job_call WHERE organization_id = $1 AND job_id = $2`,
);

/** Counts for each node how many calls of an organization it holds, whether they have begun or not. */
export async function countHeldCalls(
  db: Queryable,
  organizationId: string,
): Promise<{ nodeId: string; count: number }[]> {
  return await db.query(countHeldCallRows, [organizationId]);
}

const countHeldCallRows = statement<{ nodeId: string; count: number }>(
  "count_held_calls",
  "organization",
  `SELECT node_id AS "nodeId", count(*) AS count
   FROM job_call
   WHERE organization_id = $1 AND node_id IS NOT NULL
   GROUP BY node_id`,
);

export async function holdsCall(db: Queryable, nodeId: string, call: CallKey): Promise<boolean> {
  const { organizationId, jobId, branch, epoch } = call;
  const rows = await db.query(findHeldCall, [organizationId, jobId, branch, epoch, nodeId]);
  return rows.length > 0;
}

const findHeldCall = statement<{ found: number }>(
  "find_held_call",
  "organization",
  `SELECT 1 AS found FROM job_call
   WHERE organization_id = $1 AND job_id = $2 AND branch = $3 AND epoch = $4 AND node_id = $5`,
);

/** A call that may be taken over, and the version of its job. */
export interface FoundCall extends HeldCall, VersionKey {}

const foundCallColumns = `${callColumns}, version_id AS "versionId", node_id AS "nodeId"`;

/** Finds calls whose nodes are not alive. */
export async function findOrphanedCalls(
  db: Queryable,
  livingNodeIds: readonly string[],
  leftOut: LeftOut,
  limit: number,
): Promise<FoundCall[]> {
  return await db.query(findOrphanedCallRows, [livingNodeIds, ...leftOutValues(leftOut), limit]);
}

const findOrphanedCallRows = statement<FoundCall>(
  "find_orphaned_calls",
  "maintenance",
  `SELECT ${foundCallColumns}
   FROM job_call
   WHERE node_id IS NOT NULL AND node_id <> ALL($1::uuid[]) AND version_id <> ALL($2::uuid[]) AND job_id <> ALL($3::uuid[])
     AND organization_id <> ALL($4::uuid[])
   LIMIT $5`,
  "once",
  { restMs: 5_000 },
);

/**
 * Lists calls that a node has held for `ageMs`, in the order of their jobs and branches, beginning after the call `after`. Each search sorts all
 * calls of the node. A node holds a few thousand calls at most, and the index by node finds them all. An index in the right order would need one more
 * column, which every call would have to write.
 */
export async function findCallsOfNode(
  db: Queryable,
  {
    nodeId,
    ageMs,
    after,
  }: {
    readonly nodeId: string;
    readonly ageMs: number;
    readonly after: Pick<CallKey, "jobId" | "branch"> | undefined;
  },
  leftOut: LeftOut,
  limit: number,
): Promise<FoundCall[]> {
  const [jobId, branch] = [after?.jobId ?? null, after?.branch ?? ""];
  return await db.query(findCallRowsOfNode, [nodeId, ageMs, jobId, branch, ...leftOutValues(leftOut), limit]);
}

const findCallRowsOfNode = statement<FoundCall>(
  "find_calls_of_node",
  "maintenance",
  `SELECT ${foundCallColumns}
   FROM job_call
   WHERE node_id = $1 AND ready_at < now() - $2::integer * interval '1 millisecond'
     AND ($3::uuid IS NULL OR (job_id, branch) > ($3::uuid, $4::text)) AND version_id <> ALL($5::uuid[]) AND job_id <> ALL($6::uuid[])
     AND organization_id <> ALL($7::uuid[])
   ORDER BY job_id, branch
   LIMIT $8`,
  "once",
  { order: ["jobId"], restMs: 5_000 },
);

export interface TakenCall extends CallKey {
  /** Whether the call had begun on the earlier node. If so, it may have caused the death of that node. */
  readonly hadBegun: boolean;
}

/**
 * Takes calls over from a dead node, or takes back calls that this node has forgotten (`deadNodeId` is then this node). All calls belong to one
 * group of organizations. Returns the calls that this node holds now. The other calls were taken by another node, or are over. Until this node
 * has told the job about the takeover, a call keeps its epoch and the mark that it had begun. After that, answers to the old call are dropped.
 */
export async function takeOverCalls(
  db: Queryable,
  nodeId: string,
  deadNodeId: string,
  calls: readonly CallKey[],
): Promise<TakenCall[]> {
  return await askInParts(
    calls,
    (part) => db.query(takeOverCallRows, [...callArrays(part), nodeId, deadNodeId]),
    everyPairJoined,
  );
}

export const changedCallColumns = `job_call.organization_id AS "organizationId", job_call.job_id AS "jobId", job_call.branch, job_call.step,
     job_call.visit, job_call.epoch`;

const takeOverCallRows = statement<TakenCall>(
  "take_over_calls",
  "organization",
  `UPDATE job_call
   SET node_id = $5
   FROM ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch)
   WHERE ${isWantedCall} AND job_call.node_id = $6
   RETURNING ${changedCallColumns}, job_call.begun AS "hadBegun"`,
);

/** Notes that calls begin, for one group of organizations. Returns the calls that the node still holds. The node must not begin the others. */
export async function markBegun(db: Queryable, nodeId: string, calls: readonly CallKey[]): Promise<CallKey[]> {
  return await askInParts(calls, (part) => db.query(markBegunRows, [...callArrays(part), nodeId]), everyPairJoined);
}

const markBegunRows = statement<CallKey>(
  "mark_calls_begun",
  "organization",
  `UPDATE job_call
   SET begun = true
   FROM ${wantedCalls} AS wanted (organization_id, job_id, branch, epoch)
   WHERE ${isWantedCall} AND job_call.node_id = $5
   RETURNING ${changedCallColumns}`,
);

/**
 * The keys of calls as parallel arrays: each position is one call. The first three arrays also let the planner use the primary key.
 */
export function callArrays(calls: readonly CallKey[]): [string[], string[], string[], number[]] {
  const keyOf = ({ organizationId, jobId, branch }: CallKey) => organizationId + jobId + branch;
  const sorted = calls.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return [
    sorted.map((call) => call.organizationId),
    sorted.map((call) => call.jobId),
    sorted.map((call) => call.branch),
    sorted.map((call) => call.epoch),
  ];
}
