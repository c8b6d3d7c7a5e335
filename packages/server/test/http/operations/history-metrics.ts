import { type Database, statement } from "../../../src/store/home/database.ts";

/** The expected answers of metrics. They are computed from the jobs and their histories, as releases without rollups did. */
export interface ExpectedMetrics {
  readonly jobs_submitted: number;
  readonly jobs_succeeded: number;
  readonly jobs_failed: number;
  readonly jobs_cancelled: number;
  readonly step_failures: number;
  readonly step_retries: number;
  readonly job_duration_seconds: Durations;
  readonly step_duration_seconds: Durations;
}

export interface Durations {
  readonly avg: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

export async function metricsOfHistory(
  db: Database,
  organizationId: string,
  workflowId: string | null,
): Promise<ExpectedMetrics> {
  const values = [organizationId, workflowId];
  const [counts] = await db.query(countRows, values);
  const [jobs] = await db.query(measureJobRows, values);
  const [steps] = await db.query(measureStepRows, values);
  if (counts === undefined || jobs === undefined || steps === undefined) throw new Error("A sum came without a row.");
  return { ...counts, job_duration_seconds: jobs, step_duration_seconds: steps };
}

const durations = `
  avg(seconds)::float8 AS avg, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95, percentile_cont(0.99) WITHIN GROUP (ORDER BY seconds) AS p99,
  max(seconds)::float8 AS max`;

const entries = `
  SELECT job_history.job_id, entry ->> 'type' AS type, (entry ->> 'at')::bigint AS at, entry ->> 'step' AS step, entry ->> 'visit' AS visit
  FROM job_history
  JOIN job ON job.organization_id = job_history.organization_id AND job.job_id = job_history.job_id
  CROSS JOIN LATERAL json_array_elements(entries) AS entry
  WHERE job_history.organization_id = $1 AND ($2::uuid IS NULL OR workflow_id = $2)`;

const countRows = statement<Omit<ExpectedMetrics, "job_duration_seconds" | "step_duration_seconds">>(
  "test_count_history",
  "organization",
  `SELECT count(*) AS jobs_submitted, count(*) FILTER (WHERE status = 'SUCCEEDED') AS jobs_succeeded,
     count(*) FILTER (WHERE status = 'FAILED') AS jobs_failed, count(*) FILTER (WHERE status = 'CANCELLED') AS jobs_cancelled,
     (SELECT count(*) FROM (${entries}) AS entry WHERE type = 'step.failed') AS step_failures,
     (SELECT count(*) FROM (${entries}) AS entry WHERE type = 'step.attemptFailed') AS step_retries
   FROM job
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR workflow_id = $2)`,
  "each-time",
);

const measureJobRows = statement<Durations>(
  "test_measure_jobs",
  "organization",
  `SELECT ${durations}
   FROM (
     SELECT extract(epoch FROM finished_at - created_at)::float8 AS seconds
     FROM job
     WHERE organization_id = $1 AND ($2::uuid IS NULL OR workflow_id = $2) AND status = 'SUCCEEDED'
   ) AS succeeded`,
  "each-time",
);

const measureStepRows = statement<Durations>(
  "test_measure_steps",
  "organization",
  `SELECT ${durations}
   FROM (
     SELECT (max(at) FILTER (WHERE type = 'step.succeeded') - min(at) FILTER (WHERE type = 'step.started')) / 1000.0::float8 AS seconds
     FROM (${entries}) AS entry
     WHERE type IN ('step.started', 'step.succeeded')
     GROUP BY job_id, step, visit
   ) AS run
   WHERE seconds IS NOT NULL`,
  "each-time",
);
