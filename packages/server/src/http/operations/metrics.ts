import { type Static, Type } from "typebox";
import { summarizeDurations } from "../../core/job/metrics/duration-class.ts";
import type { Measure } from "../../core/job/metrics/job-counts.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { endOfTime, parseTime, toTime } from "../../core/time.ts";
import type { Queryable } from "../../store/home/database.ts";
import {
  countRunningJobs,
  type MetricRange,
  type MetricRow,
  type RunningJobs,
  readMetric,
} from "../../store/jobs/metrics.ts";
import { findLastUncounted } from "../../store/jobs/uncounted-history.ts";
import type { App, ServerParts } from "../door/app.ts";
import { reachableWorkflows } from "../door/bounds-check.ts";
import { closed, OrganizationParams, oneOf, Time } from "../door/schemas.ts";
import { maxTotalCount } from "../door/total-count.ts";

const counts = {
  jobs_submitted: "jobsSubmitted",
  jobs_succeeded: "jobDuration",
  jobs_failed: "jobsFailed",
  jobs_cancelled: "jobsCancelled",
  step_failures: "stepFailures",
  step_retries: "stepRetries",
} as const satisfies Record<string, Measure>;

const durations = {
  job_duration_seconds: "jobDuration",
  step_duration_seconds: "stepDuration",
} as const satisfies Record<string, Measure>;

const gauges = { jobs_running: "running", jobs_waiting: "waiting" } as const;

const metricNames = [
  "jobs_submitted",
  "jobs_succeeded",
  "jobs_failed",
  "jobs_cancelled",
  "step_failures",
  "step_retries",
  "job_duration_seconds",
  "step_duration_seconds",
  "jobs_running",
  "jobs_waiting",
] as const satisfies (keyof typeof counts | keyof typeof durations | keyof typeof gauges)[];

const durationAggregations = ["avg", "p50", "p95", "p99", "max"] as const;

const MetricQuery = closed({
  metric: oneOf(metricNames, {
    description:
      "The metric. `jobs_succeeded`, `jobs_failed` and `jobs_cancelled` count jobs by the time of their end. `job_duration_seconds` is the time from submission to success, and `step_duration_seconds` the time from a step's start to its success. `step_failures` counts steps that failed for good, and `step_retries` counts failed attempts that were tried again. `jobs_running` (including those that wait or sleep) and `jobs_waiting` (those that wait for events) are the present numbers, which are counted up to 10,000 running jobs.",
  }),
  aggregation: Type.Optional(
    oneOf(["sum", ...durationAggregations], {
      description: "The aggregation. Counts have `sum`. Durations have all other aggregations; the default is `avg`.",
    }),
  ),
  bucket: Type.Optional(
    oneOf(["hour", "day"], {
      default: "hour",
      description: "The length of a bucket. Buckets begin at whole hours or days in UTC.",
    }),
  ),
  from: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "The beginning of the time range, rounded down to the start of a bucket. If it is left out, it is 24 hours (with `bucket=hour`) or 30 days (with `bucket=day`) before `to`.",
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "The end of the time range. If it is left out, it is the current time. In both cases, it is rounded up to the end of a bucket.",
    }),
  ),
  workflowId: Type.Optional(Type.String({ format: "uuid", description: "A workflow, to get only its jobs." })),
});

type Query = Static<typeof MetricQuery>;

const MetricSchema = Type.Object(
  {
    metric: oneOf(metricNames),
    aggregation: Type.Optional(oneOf(["sum", ...durationAggregations])),
    bucket: Type.Optional(oneOf(["hour", "day"])),
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    points: Type.Array(
      Type.Object({
        at: Type.String({
          format: "date-time",
          description:
            "The time at which the bucket begins; for a metric of the present moment, the time of the answer.",
        }),
        value: Type.Union([Type.Number(), Type.Null()], {
          description: "The value, which is null when there was nothing to measure.",
        }),
        valueIsMinimum: Type.Optional(
          Type.Boolean({
            description: `True when there may be more jobs than \`value\`, because counting ended at ${maxTotalCount} running jobs.`,
          }),
        ),
      }),
      { description: "One point for each bucket, in order. A metric of the present moment has one point." },
    ),
    incompleteBefore: Type.Optional({
      ...Time,
      description:
        "Some jobs from before this time are not counted yet. An earlier release ran them, and the service is counting them in the background.",
    }),
  },
  { description: "The series." },
);

type Metric = Static<typeof MetricSchema>;

export function metricRoutes(app: App, { engine, database }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/metrics",
    {
      config: { cost: 10, bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "GetMetrics",
        "x-permission": "metrics:read",
        tags: ["metrics"],
        summary: "Get a metric",
        description:
          "The answer has one value for each hour or day, or a single value for a metric of the present moment. Counts, averages and maxima are exact, and include everything that was acknowledged before the request, except the jobs that `incompleteBefore` is about. Quantiles are accurate to 5 %.",
        params: OrganizationParams,
        querystring: MetricQuery,
        response: { 200: MetricSchema },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const workflowIds = workflowsOf(request.query, reachableWorkflows(request.caller));
      const db = database.reader(organizationId);
      return await answerMetric(db, { organizationId, workflowIds }, request.query, engine.now());
    },
  );
}

type Subject = Pick<MetricRange, "organizationId" | "workflowIds">;

/** Returns the workflows to measure; null for all. For a workflow that the caller cannot reach, the answer is the same as for an unknown one. */
function workflowsOf({ workflowId }: Query, reachable: readonly string[] | null): readonly string[] | null {
  if (workflowId === undefined) return reachable;
  const wanted = workflowId.toLowerCase();
  return reachable === null || reachable.includes(wanted) ? [wanted] : [];
}

async function answerMetric(db: Queryable, subject: Subject, query: Query, now: Timestamp): Promise<Metric> {
  const { metric } = query;
  if (isKeyOf(gauges, metric)) {
    rejectRange(query);
    return { metric, points: [{ at: toTime(now), ...(await presentValue(db, subject, gauges[metric])) }] };
  }
  const { bucket, range } = rangeOf(query, subject, now);
  const about = { metric, bucket, from: toTime(range.from), to: toTime(range.to) };
  const incomplete = await incompleteBefore(db, range, now);
  if (isKeyOf(counts, metric)) {
    const aggregation = chosenAggregation(query, ["sum"]);
    const values = await valuesOf(readMetric(db, range, counts[metric]), sumOf);
    return { ...about, aggregation, points: pointsOf(range, values, 0), ...incomplete };
  }
  const aggregation = chosenAggregation(query, durationAggregations);
  const measure = ({ classes }: MetricRow) => summarizeDurations(classes)?.[aggregation];
  const values = await valuesOf(readMetric(db, range, durations[metric]), measure);
  return { ...about, aggregation, points: pointsOf(range, values, null), ...incomplete };
}

/** The value of each bucket that has rows. */
async function valuesOf(
  rows: AsyncIterable<MetricRow>,
  measure: (row: MetricRow) => number | undefined,
): Promise<ReadonlyMap<number, number | undefined>> {
  const values = new Map<number, number | undefined>();
  for await (const row of rows) values.set(row.bucket, measure(row));
  return values;
}

/** The number of running or waiting jobs. It is a minimum when there are more running jobs than are counted. */
async function presentValue(db: Queryable, { organizationId, workflowIds }: Subject, gauge: keyof RunningJobs) {
  const counted = await countRunningJobs(db, organizationId, workflowIds, maxTotalCount + 1);
  const isMinimum = counted.running > maxTotalCount;
  return { value: Math.min(counted[gauge], maxTotalCount), ...(isMinimum && { valueIsMinimum: true }) };
}

function sumOf({ classes }: MetricRow): number {
  return classes.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Returns the time before which some jobs are not counted yet: jobs are counted from the newest to the oldest. The id of a job begins with the time
 * of its submission.
 */
async function incompleteBefore(
  db: Queryable,
  { organizationId }: MetricRange,
  now: Timestamp,
): Promise<Pick<Metric, "incompleteBefore">> {
  const uncounted = await findLastUncounted(db, organizationId);
  if (uncounted === undefined) return {};
  const submittedAt = Number.parseInt(uncounted.jobId.replace("-", "").slice(0, 12), 16);
  return { incompleteBefore: toTime(Math.min(now, submittedAt + 1)) };
}

function isKeyOf<Table extends object>(table: Table, name: string): name is Extract<keyof Table, string> {
  return Object.hasOwn(table, name);
}

/** The first allowed aggregation is the default. */
function chosenAggregation<const Allowed extends string>(query: Query, allowed: readonly Allowed[]): Allowed {
  const chosen = allowed.find((candidate) => candidate === (query.aggregation ?? allowed[0]));
  if (chosen === undefined) throw invalid("aggregation", `must be ${allowed.join(", ")} for ${query.metric}`);
  return chosen;
}

function rejectRange(query: Query): void {
  for (const name of ["aggregation", "bucket", "from", "to"] as const) {
    if (query[name] !== undefined)
      throw invalid(name, `has no meaning for ${query.metric}, which is a value of the present moment`);
  }
}

const buckets = {
  hour: { seconds: 3_600, defaultCount: 24, maxCount: 31 * 24 },
  day: { seconds: 86_400, defaultCount: 30, maxCount: 366 },
} as const;

function rangeOf(query: Query, subject: Subject, now: Timestamp) {
  const bucket = query.bucket ?? "hour";
  const { seconds, defaultCount, maxCount } = buckets[bucket];
  const bucketMs = seconds * 1000;
  const to = Math.ceil((query.to === undefined ? now : parseTime("to", query.to)) / bucketMs) * bucketMs;
  if (to >= endOfTime) throw invalid("to", `must lie before the last ${bucket} of the year 9999`);
  const earliest = query.from === undefined ? to - defaultCount * bucketMs : parseTime("from", query.from);
  const from = Math.floor(earliest / bucketMs) * bucketMs;
  if (from >= to) throw invalid("from", "must be earlier than `to`");
  if (to - from > maxCount * bucketMs) throw invalid("from", `must be at most ${maxCount} ${bucket}s before \`to\``);
  const range: MetricRange = { ...subject, from, to, bucketSeconds: seconds };
  return { bucket, range };
}

function pointsOf(
  { from, to, bucketSeconds }: MetricRange,
  values: ReadonlyMap<number, number | undefined>,
  empty: number | null,
): Metric["points"] {
  const first = from / 1000 / bucketSeconds;
  const count = (to - from) / 1000 / bucketSeconds;
  return Array.from({ length: count }, (_, index) => {
    const bucket = first + index;
    return { at: toTime(bucket * bucketSeconds * 1000), value: values.get(bucket) ?? empty };
  });
}

function invalid(name: string, detail: string): ServiceError {
  return new ServiceError("ValidationError", `${name} ${detail}.`, { problems: [{ pointer: `/${name}`, detail }] });
}
