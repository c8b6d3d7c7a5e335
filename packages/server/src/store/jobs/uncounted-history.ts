import type { StepRunKey } from "../../core/job/history.ts";
import type { CountedEntry, JobEnd } from "../../core/job/metrics/job-counts.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { mostBytes } from "./most-bytes.ts";

/** Names one row of the history. */
export interface HistoryPosition {
  readonly jobId: string;
  readonly firstSequence: number;
}

/** A row of the history with the fields that counting needs. */
export interface UncountedRow extends HistoryPosition {
  readonly workflowId: string;
  readonly createdAt: Timestamp;
  readonly entries: readonly CountedEntry[];
}

/** History from releases without rollups: everything before `before` is not counted yet. */
export interface Backlog {
  readonly organizationId: string;
  readonly before: HistoryPosition;
}

/** Lists organizations with a backlog, in the order of their ids. */
export async function listBacklogs(db: Queryable, limit: number): Promise<Backlog[]> {
  const rows = await db.query(listBacklogRows, [limit]);
  return rows.map(({ organizationId, ...before }) => ({ organizationId, before }));
}

const listBacklogRows = statement<HistoryPosition & { organizationId: string }>(
  "list_metric_backlogs",
  "maintenance",
  `SELECT organization_id AS "organizationId", before_job_id AS "jobId", before_sequence AS "firstSequence"
   FROM metric_backlog
   ORDER BY organization_id
   LIMIT $1`,
  "once",
  { order: ["organizationId"], restMs: 5_000 },
);

/** Finds the newest place in the organization's history where something is not counted yet. Undefined when all is counted. */
export async function findLastUncounted(db: Queryable, organizationId: string): Promise<HistoryPosition | undefined> {
  const [row] = await db.query(findLastUncountedRow, [organizationId]);
  return row;
}

const findLastUncountedRow = statement<HistoryPosition>(
  "find_last_uncounted",
  "organization",
  `SELECT job_id AS "jobId", first_sequence AS "firstSequence"
   FROM (
     SELECT before_job_id AS job_id, before_sequence AS first_sequence FROM metric_backlog WHERE organization_id = $1
     UNION ALL
     (SELECT job_id, first_sequence FROM job_history
      WHERE organization_id = $1 AND NOT counted
      ORDER BY job_id DESC, first_sequence DESC
      LIMIT 1)
   ) AS uncounted
   ORDER BY job_id DESC, first_sequence DESC
   LIMIT 1`,
);

/** The branch of an entry. An entry of the main line has no field `branch`, and gets the empty path here. */
const branchOfEntry = "coalesce(entry ->> 'branch', '')";

/** The entries without their inputs and outputs. Those may be large, and counting does not need them. */
const slimEntries = `
  (SELECT json_agg(json_build_object('type', entry ->> 'type', 'at', entry -> 'at', 'branch', ${branchOfEntry},
     'step', entry ->> 'step', 'visit', entry -> 'visit') ORDER BY number)
   FROM json_array_elements(job_history.entries) WITH ORDINALITY AS numbered (entry, number))`;

const uncountedColumns = `
  job_history.job_id AS "jobId", job_history.first_sequence AS "firstSequence", job.workflow_id AS "workflowId",
  job.created_at AS "createdAt", ${slimEntries} AS entries`;

/** The bound in bytes on one slice. Counting unpacks the entries, and those of earlier releases may have values of any size. */
const maxSliceBytes = 4_000_000;

/** Reads the next rows of a backlog, the newest job first. Reads fewer than `limit` rows when they are large together. */
export async function readBacklog(db: Queryable, backlog: Backlog, limit: number): Promise<UncountedRow[]> {
  const { organizationId, before } = backlog;
  return await db.query(readBacklogRows, [organizationId, before.jobId, before.firstSequence, limit, maxSliceBytes]);
}

const readBacklogRows = statement<UncountedRow>(
  "read_metric_backlog",
  "organization",
  `SELECT ${uncountedColumns}
   FROM (
     SELECT *, sum(bytes) OVER (ORDER BY job_id DESC, first_sequence DESC) - bytes AS bytes_before
     FROM (
       SELECT organization_id, job_id, first_sequence, entries, ${mostBytes("entries")} AS bytes
       FROM job_history
       WHERE organization_id = $1 AND counted IS NULL AND (job_id, first_sequence) < ($2::uuid, $3::integer)
       ORDER BY job_id DESC, first_sequence DESC
       LIMIT $4
     ) AS found
   ) AS job_history
   JOIN job ON job.organization_id = job_history.organization_id AND job.job_id = job_history.job_id AND job.organization_id = $1
   WHERE bytes_before < $5
   ORDER BY job_history.job_id DESC, job_history.first_sequence DESC`,
);

/** Moves the end of a backlog. Deletes the backlog when `to` is undefined. Returns false when another node has done so first. */
export async function moveBacklog(
  transaction: Transaction,
  { organizationId, before }: Backlog,
  to: HistoryPosition | undefined,
): Promise<boolean> {
  const place = [organizationId, before.jobId, before.firstSequence];
  const moved =
    to === undefined
      ? await transaction.query(deleteBacklogRow, place)
      : await transaction.query(moveBacklogRow, [...place, to.jobId, to.firstSequence]);
  return moved.length > 0;
}

const moveBacklogRow = statement<{ moved: number }>(
  "move_metric_backlog",
  "organization",
  `UPDATE metric_backlog SET before_job_id = $4, before_sequence = $5
   WHERE organization_id = $1 AND before_job_id = $2 AND before_sequence = $3
   RETURNING 1 AS moved`,
);

const deleteBacklogRow = statement<{ moved: number }>(
  "delete_metric_backlog",
  "organization",
  `DELETE FROM metric_backlog
   WHERE organization_id = $1 AND before_job_id = $2 AND before_sequence = $3
   RETURNING 1 AS moved`,
);

/**
 * Finds rows that were committed without being counted. Either a node with an earlier release wrote such a row, or the row could not be counted
 * without earlier entries, which say for example when a step began.
 */
export async function findUncounted(
  db: Queryable,
  limit: number,
): Promise<(HistoryPosition & { organizationId: string })[]> {
  return await db.query(findUncountedRows, [limit]);
}

const findUncountedRows = statement<HistoryPosition & { organizationId: string }>(
  "find_uncounted_history",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", first_sequence AS "firstSequence"
   FROM job_history
   WHERE NOT counted
   ORDER BY organization_id, job_id, first_sequence
   LIMIT $1`,
  "once",
  { order: ["organizationId", "jobId"], restMs: 5_000 },
);

export async function readUncounted(
  db: Queryable,
  organizationId: string,
  positions: readonly HistoryPosition[],
): Promise<UncountedRow[]> {
  return await db.query(readUncountedRows, [organizationId, ...positionArrays(positions)]);
}

const readUncountedRows = statement<UncountedRow>(
  "read_uncounted_history",
  "organization",
  `SELECT ${uncountedColumns}
   FROM unnest($2::uuid[], $3::integer[]) AS wanted (job_id, first_sequence)
   JOIN job_history ON job_history.organization_id = $1 AND job_history.job_id = wanted.job_id
     AND job_history.first_sequence = wanted.first_sequence
   JOIN job ON job.organization_id = $1 AND job.job_id = wanted.job_id
   WHERE job_history.organization_id = $1 AND job.organization_id = $1`,
);

/**
 * Marks rows as counted, and returns how many of them were not counted before. The number is smaller than that of `positions` when another node was
 * first.
 */
export async function markCounted(
  transaction: Transaction,
  organizationId: string,
  positions: readonly HistoryPosition[],
): Promise<number> {
  return (await transaction.query(markCountedRows, [organizationId, ...positionArrays(positions)])).length;
}

const markCountedRows = statement<{ marked: number }>(
  "mark_history_counted",
  "organization",
  `UPDATE job_history SET counted = true
   FROM unnest($2::uuid[], $3::integer[]) AS wanted (job_id, first_sequence)
   WHERE job_history.organization_id = $1 AND job_history.job_id = wanted.job_id
     AND job_history.first_sequence = wanted.first_sequence AND NOT job_history.counted
   RETURNING 1 AS marked`,
);

/** A run of a step that succeeded in this row of history. */
export interface RunOfRow extends HistoryPosition, Required<StepRunKey> {}

/** Finds when steps began, from the job's entries before the row. */
export async function findStepStarts(
  db: Queryable,
  organizationId: string,
  runs: readonly RunOfRow[],
): Promise<(RunOfRow & { readonly startedAt: Timestamp })[]> {
  if (runs.length === 0) return [];
  const keys = [runs.map(({ branch }) => branch), runs.map(({ step }) => step), runs.map(({ visit }) => visit)];
  return await db.query(findStepStartRows, [organizationId, ...positionArrays(runs), ...keys]);
}

const findStepStartRows = statement<RunOfRow & { startedAt: Timestamp }>(
  "find_step_starts",
  "organization",
  `SELECT wanted.job_id AS "jobId", wanted.first_sequence AS "firstSequence", wanted.branch, wanted.step, wanted.visit,
     earlier.at AS "startedAt"
   FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::integer[]) AS wanted (job_id, first_sequence, branch, step, visit)
   CROSS JOIN LATERAL (
     SELECT (entry ->> 'at')::bigint AS at
     FROM job_history CROSS JOIN LATERAL json_array_elements(job_history.entries) AS entry
     WHERE job_history.organization_id = $1 AND job_history.job_id = wanted.job_id
       AND job_history.first_sequence < wanted.first_sequence AND entry ->> 'type' = 'step.started'
       AND ${branchOfEntry} = wanted.branch AND entry ->> 'step' = wanted.step AND (entry ->> 'visit')::integer = wanted.visit
     ORDER BY job_history.first_sequence DESC
     LIMIT 1
   ) AS earlier`,
);

/** Finds for each of these rows how its job had last ended before the row. */
export async function findEarlierEnds(
  db: Queryable,
  organizationId: string,
  positions: readonly HistoryPosition[],
): Promise<(HistoryPosition & JobEnd)[]> {
  if (positions.length === 0) return [];
  return await db.query(findEarlierEndRows, [organizationId, ...positionArrays(positions)]);
}

const findEarlierEndRows = statement<HistoryPosition & JobEnd>(
  "find_earlier_ends",
  "organization",
  `SELECT wanted.job_id AS "jobId", wanted.first_sequence AS "firstSequence", earlier.measure, earlier.at
   FROM unnest($2::uuid[], $3::integer[]) AS wanted (job_id, first_sequence)
   CROSS JOIN LATERAL (
     SELECT (entry ->> 'at')::bigint AS at,
       CASE entry ->> 'type' WHEN 'job.failed' THEN 'jobsFailed' ELSE 'jobsCancelled' END AS measure
     FROM job_history CROSS JOIN LATERAL json_array_elements(job_history.entries) AS entry
     WHERE job_history.organization_id = $1 AND job_history.job_id = wanted.job_id
       AND job_history.first_sequence < wanted.first_sequence AND entry ->> 'type' IN ('job.failed', 'job.cancelled')
     ORDER BY job_history.first_sequence DESC, (entry ->> 'sequence')::integer DESC
     LIMIT 1
   ) AS earlier`,
);

function positionArrays(positions: readonly HistoryPosition[]): [string[], number[]] {
  return [positions.map(({ jobId }) => jobId), positions.map(({ firstSequence }) => firstSequence)];
}
