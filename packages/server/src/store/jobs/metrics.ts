import type { DurationCount } from "../../core/job/metrics/duration-class.ts";
import type { Measure } from "../../core/job/metrics/job-counts.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import { changeColumns } from "./metric-rollups.ts";

/** A range of buckets. Bucket n begins n × `bucketSeconds` after the beginning of 1970. */
export interface MetricRange {
  readonly organizationId: string;
  readonly from: Timestamp;
  /** The end, which is not included. */
  readonly to: Timestamp;
  readonly bucketSeconds: number;
  /** The workflows to include; null for all. */
  readonly workflowIds: readonly string[] | null;
}

/** The sums of one bucket by duration class. A class may occur more than once. */
export interface MetricRow {
  readonly bucket: number;
  readonly classes: readonly DurationCount[];
}

/**
 * Reads the sums of a measure: the rollups, and the changes that are not added to them yet. Each statement reads both, so that it sees them at the
 * same instant. It reads only a slice of the range, because the embedded store keeps this thread from all other work until a statement ends.
 */
export async function* readMetric(db: Queryable, range: MetricRange, measure: Measure): AsyncGenerator<MetricRow> {
  const { organizationId, from, to, bucketSeconds, workflowIds } = range;
  const end = to / 1000 / bucketSeconds;
  for (let start = from / 1000 / bucketSeconds; start < end; start += bucketsAtOnce) {
    const sliceEnd = Math.min(end, start + bucketsAtOnce);
    const rows = await db.query(readMetricRows, [organizationId, measure, bucketSeconds, start, sliceEnd, workflowIds]);
    for (const row of rows) yield metricRowOf(row);
  }
}

/**
 * The number of buckets that one statement reads. For each wanted workflow, a bucket has a row for each class of durations that occurred in it. There
 * are up to 250 classes.
 */
const bucketsAtOnce = 120;

function metricRowOf({ bucket, durationClasses, counts, totalsMs, maximaMs }: ArraysOfBucket): MetricRow {
  return {
    bucket,
    classes: durationClasses.map((durationClass, index) => ({
      durationClass,
      count: counts[index] ?? 0,
      totalMs: totalsMs[index] ?? 0,
      maxMs: maximaMs[index] ?? 0,
    })),
  };
}

interface ArraysOfBucket {
  readonly bucket: number;
  readonly durationClasses: readonly number[];
  readonly counts: readonly number[];
  readonly totalsMs: readonly number[];
  readonly maximaMs: readonly number[];
}

/** The workflow id of the rows with the sums over all workflows (`rollUp` of `core/job/metrics/metric-change.ts`). */
const allWorkflows = "ARRAY['00000000-0000-0000-0000-000000000000']::uuid[]";

/** The result has one row for each bucket. With one for each class, the driver took four times as long as the store to read the hours of a month. */
const readMetricRows = statement<ArraysOfBucket>(
  "read_metric",
  "organization",
  `SELECT bucket, array_to_json(array_agg(duration_class)) AS "durationClasses", array_to_json(array_agg(count)) AS counts,
     array_to_json(array_agg(total_ms)) AS "totalsMs", array_to_json(array_agg(max_ms)) AS "maximaMs"
   FROM (
     SELECT bucket, duration_class, count, total_ms, max_ms
     FROM metric_rollup
     WHERE organization_id = $1 AND workflow_id = ANY(coalesce($6::uuid[], ${allWorkflows}))
       AND measure = $2 AND bucket_seconds = $3 AND bucket >= $4 AND bucket < $5
     UNION ALL
     SELECT (hour::bigint * 3600 / $3::integer)::integer, class, count, total, max
     FROM metric_change
     CROSS JOIN LATERAL json_to_recordset(changes) AS change (${changeColumns})
     WHERE organization_id = $1 AND measure = $2 AND hour::bigint * 3600 / $3::integer >= $4 AND hour::bigint * 3600 / $3::integer < $5
       AND ($6::uuid[] IS NULL OR workflow = ANY($6))
   ) AS counted
   GROUP BY bucket`,
  "each-time",
);

export interface RunningJobs {
  readonly running: number;
  /** The running jobs that wait for events. */
  readonly waiting: number;
}

/**
 * Counts the jobs that are RUNNING now and, among them, the jobs that wait for events. Counting ends after `max` running jobs, because counting all
 * of them would mean reading all of them. Waiting jobs are counted only among these, because no index has just the waiting jobs of an organization.
 */
export async function countRunningJobs(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[] | null,
  max: number,
): Promise<RunningJobs> {
  const [row] =
    workflowIds === null
      ? await db.query(countRunningJobRows, [organizationId, max])
      : await db.query(countRunningJobRowsOfWorkflows, [organizationId, max, workflowIds]);
  return row ?? { running: 0, waiting: 0 };
}

const countRunningJobRows = statement<RunningJobs>(
  "count_running_jobs",
  "organization",
  `SELECT count(*) AS running, count(awaiting_event_ids) AS waiting
   FROM (
     SELECT awaiting_event_ids FROM job WHERE organization_id = $1 AND status = 'RUNNING' ORDER BY job_id DESC LIMIT $2
   ) AS counted`,
  "each-time",
);

/** An index finds the running jobs of each wanted workflow, so the running jobs of other workflows are not read. */
const countRunningJobRowsOfWorkflows = statement<RunningJobs>(
  "count_running_jobs_of_workflows",
  "organization",
  `SELECT count(*) AS running, count(awaiting_event_ids) AS waiting
   FROM (
     SELECT found.awaiting_event_ids
     FROM unnest($3::uuid[]) AS wanted (wanted_workflow_id)
     CROSS JOIN LATERAL (
       SELECT awaiting_event_ids FROM job
       WHERE organization_id = $1 AND workflow_id = wanted_workflow_id AND status = 'RUNNING'
       ORDER BY job_id DESC
       LIMIT $2
     ) AS found
     LIMIT $2
   ) AS counted`,
  "each-time",
);
