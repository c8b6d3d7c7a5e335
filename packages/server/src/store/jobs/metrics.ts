import type { JobStatus, Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import { firstIdAt, idSlackMs, lastIdAt } from "./job-lists.ts";

/** A row of buckets: bucket n holds what happened from n × `bucketSeconds` on, counted from 1970. */
export interface MetricRange {
  readonly organizationId: string;
  readonly from: Timestamp;
  /** Without this instant itself. */
  readonly to: Timestamp;
  readonly bucketSeconds: number;
  /** Only of these workflows; null: of all. */
  readonly workflowIds: readonly string[] | null;
}

export interface CountRow {
  readonly bucket: number;
  readonly count: number;
}

/** Seconds; only buckets with at least one sample. */
export interface DurationRow {
  readonly bucket: number;
  readonly avg: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export async function countSubmittedJobs(db: Queryable, range: MetricRange): Promise<CountRow[]> {
  const firstId = firstIdAt(range.from - idSlackMs);
  const lastId = lastIdAt(range.to + idSlackMs);
  return await db.query(countSubmittedJobRows, [...rangeValues(range), firstId, lastId]);
}

const countSubmittedJobRows = statement<CountRow>(
  "count_submitted_jobs",
  "organization",
  `SELECT floor(extract(epoch FROM created_at) / $4::integer)::bigint AS bucket, count(*) AS count
   FROM job
   WHERE organization_id = $1 AND created_at >= $2 AND created_at < $3 AND ($5::uuid[] IS NULL OR workflow_id = ANY($5))
     AND job_id BETWEEN $6::uuid AND $7::uuid
   GROUP BY 1`,
  "each-time",
);

/** Jobs by the time at which they ended. One that was resumed since has not ended. */
export async function countFinishedJobs(db: Queryable, range: MetricRange, status: JobStatus): Promise<CountRow[]> {
  return await db.query(countFinishedJobRows, [...rangeValues(range), status]);
}

const countFinishedJobRows = statement<CountRow>(
  "count_finished_jobs",
  "organization",
  `SELECT floor(extract(epoch FROM finished_at) / $4::integer)::bigint AS bucket, count(*) AS count
   FROM job
   WHERE organization_id = $1 AND finished_at >= $2 AND finished_at < $3 AND ($5::uuid[] IS NULL OR workflow_id = ANY($5))
     AND status = $6
   GROUP BY 1`,
  "each-time",
);

const durationColumns = `
  avg(seconds)::float8 AS avg, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95, percentile_cont(0.99) WITHIN GROUP (ORDER BY seconds) AS p99,
  max(seconds)::float8 AS max`;

/** From submission to success, by the time of the success. */
export async function measureJobs(db: Queryable, range: MetricRange): Promise<DurationRow[]> {
  return await db.query(measureJobRows, rangeValues(range));
}

const measureJobRows = statement<DurationRow>(
  "measure_jobs",
  "organization",
  `SELECT bucket, ${durationColumns}
   FROM (
     SELECT floor(extract(epoch FROM finished_at) / $4::integer)::bigint AS bucket,
       extract(epoch FROM finished_at - created_at)::float8 AS seconds
     FROM job
     WHERE organization_id = $1 AND finished_at >= $2 AND finished_at < $3 AND ($5::uuid[] IS NULL OR workflow_id = ANY($5))
       AND status = 'SUCCEEDED'
   ) AS succeeded
   GROUP BY bucket`,
  "each-time",
);

/** History entries of one type. The text is searched first: most rows hold none, and need not be taken apart. */
export async function countEntries(db: Queryable, range: MetricRange, type: string): Promise<CountRow[]> {
  return await db.query(countEntryRows, [...rangeValues(range), type]);
}

const ofWorkflow = `($5::uuid[] IS NULL OR job_history.job_id IN (
       SELECT job.job_id FROM job WHERE job.organization_id = $1 AND job.workflow_id = ANY($5)))`;

const countEntryRows = statement<CountRow>(
  "count_history_entries",
  "organization",
  `SELECT floor(extract(epoch FROM committed_at) / $4::integer)::bigint AS bucket, count(*) AS count
   FROM job_history CROSS JOIN LATERAL json_array_elements(entries) AS entry
   WHERE organization_id = $1 AND committed_at >= $2 AND committed_at < $3 AND ${ofWorkflow}
     AND position('"' || $6::text || '"' IN entries::text) > 0 AND entry ->> 'type' = $6
   GROUP BY 1`,
  "each-time",
);

/** From a step's start to its success, all attempts included, by the time of the success. */
export async function measureSteps(db: Queryable, range: MetricRange): Promise<DurationRow[]> {
  return await db.query(measureStepRows, rangeValues(range));
}

/** A step may have started in an earlier commit, and before the range: so the whole past of each job is taken apart, once. */
const measureStepRows = statement<DurationRow>(
  "measure_steps",
  "organization",
  `WITH progressed AS (
     SELECT DISTINCT job_history.organization_id, job_history.job_id
     FROM job_history
     WHERE organization_id = $1 AND committed_at >= $2 AND committed_at < $3 AND ${ofWorkflow}
       AND position('"step.succeeded"' IN entries::text) > 0
   ), run AS (
     SELECT min((entry ->> 'at')::bigint) FILTER (WHERE entry ->> 'type' = 'step.started') AS started_ms,
       max((entry ->> 'at')::bigint) FILTER (WHERE entry ->> 'type' = 'step.succeeded') AS succeeded_ms
     FROM progressed
     JOIN job_history ON job_history.organization_id = progressed.organization_id AND job_history.job_id = progressed.job_id
     CROSS JOIN LATERAL json_array_elements(entries) AS entry
     WHERE job_history.organization_id = $1 AND job_history.committed_at < $3
       AND entry ->> 'type' IN ('step.started', 'step.succeeded')
     GROUP BY progressed.job_id, entry ->> 'step', entry ->> 'visit'
   )
   SELECT bucket, ${durationColumns}
   FROM (
     SELECT floor(succeeded_ms / 1000.0 / $4::integer)::bigint AS bucket,
       ((succeeded_ms - started_ms) / 1000.0)::float8 AS seconds
     FROM run
     WHERE succeeded_ms >= extract(epoch FROM $2::timestamptz) * 1000 AND started_ms IS NOT NULL
   ) AS succeeded
   GROUP BY bucket`,
  "each-time",
);

/** Jobs that are RUNNING now; of them, those that wait for events. */
export async function countRunningJobs(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[] | null,
): Promise<{ running: number; waiting: number }> {
  const [row] = await db.query(countRunningJobRows, [organizationId, workflowIds]);
  return row ?? { running: 0, waiting: 0 };
}

const countRunningJobRows = statement<{ running: number; waiting: number }>(
  "count_running_jobs",
  "organization",
  `SELECT count(*) AS running, count(awaiting_event_ids) AS waiting
   FROM job
   WHERE organization_id = $1 AND status = 'RUNNING' AND ($2::uuid[] IS NULL OR workflow_id = ANY($2))`,
  "each-time",
);

function rangeValues({ organizationId, from, to, bucketSeconds, workflowIds }: MetricRange): unknown[] {
  return [organizationId, new Date(from).toISOString(), new Date(to).toISOString(), bucketSeconds, workflowIds];
}
