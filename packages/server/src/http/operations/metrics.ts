import { type Static, Type } from "typebox";
import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import { endOfTime, parseTime, toTime } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import {
  type CountRow,
  countEntries,
  countFinishedJobs,
  countRunningJobs,
  countSubmittedJobs,
  type DurationRow,
  type MetricRange,
  measureJobs,
  measureSteps,
} from "../../store/jobs/metrics.ts";
import type { App, ServerParts } from "../door/app.ts";
import { reachableWorkflows } from "../door/bounds-check.ts";
import { closed, OrganizationParams, oneOf, Time } from "../door/schemas.ts";

type Count = (db: Database, range: MetricRange) => Promise<CountRow[]>;
type Measure = (db: Database, range: MetricRange) => Promise<DurationRow[]>;

const counts = {
  jobs_submitted: countSubmittedJobs,
  jobs_succeeded: (db, range) => countFinishedJobs(db, range, "SUCCEEDED"),
  jobs_failed: (db, range) => countFinishedJobs(db, range, "FAILED"),
  jobs_cancelled: (db, range) => countFinishedJobs(db, range, "CANCELLED"),
  step_failures: (db, range) => countEntries(db, range, "step.failed"),
  step_retries: (db, range) => countEntries(db, range, "step.attemptFailed"),
} as const satisfies Record<string, Count>;

const durations = {
  job_duration_seconds: measureJobs,
  step_duration_seconds: measureSteps,
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
      "`jobs_succeeded`, `jobs_failed` and `jobs_cancelled` count jobs by when they ended; `job_duration_seconds` is from submission to success, `step_duration_seconds` from a step's start to its success; `step_failures` counts steps that failed for good, `step_retries` failed attempts that were tried again. `jobs_running` (those that wait included) and `jobs_waiting` are what is now.",
  }),
  aggregation: Type.Optional(
    oneOf(["sum", ...durationAggregations], {
      description: "`sum` for what is counted, the others for durations (default `avg`).",
    }),
  ),
  bucket: Type.Optional(oneOf(["hour", "day"], { default: "hour", description: "In UTC." })),
  from: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Default: 24 hours, or 30 days, before `to`. Widened to whole buckets.",
    }),
  ),
  to: Type.Optional(Type.String({ format: "date-time", description: "Default: now. Widened to whole buckets." })),
  workflowId: Type.Optional(Type.String({ format: "uuid", description: "Only jobs of this workflow." })),
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
        at: Type.String({ format: "date-time", description: "Where the bucket begins." }),
        value: Type.Union([Type.Number(), Type.Null()], { description: "null where there is nothing to measure." }),
      }),
      { description: "One for each bucket, in order. Of what is now: one." },
    ),
  },
  { description: "The series." },
);

type Metric = Static<typeof MetricSchema>;

export function metricRoutes(app: App, { engine, database }: ServerParts): void {
  app.get(
    "/organizations/:organizationId/metrics",
    {
      config: { bounds: { workflows: "handler", tags: "unaffected" } },
      schema: {
        operationId: "GetMetrics",
        "x-permission": "metrics:read",
        tags: ["metrics"],
        summary: "Get a metric",
        description: "Computed from the jobs and their histories at the time of the request.",
        params: OrganizationParams,
        querystring: MetricQuery,
        response: { 200: MetricSchema },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const workflowIds = workflowsOf(request.query, reachableWorkflows(request.caller));
      return await readMetric(database, { organizationId, workflowIds }, request.query, engine.now());
    },
  );
}

type Subject = Pick<MetricRange, "organizationId" | "workflowIds">;

/** A workflow that the caller cannot reach is measured like one that does not exist. */
function workflowsOf({ workflowId }: Query, reachable: readonly string[] | null): readonly string[] | null {
  if (workflowId === undefined) return reachable;
  const wanted = workflowId.toLowerCase();
  return reachable === null || reachable.includes(wanted) ? [wanted] : [];
}

async function readMetric(database: Database, subject: Subject, query: Query, now: Timestamp): Promise<Metric> {
  const { metric } = query;
  if (isKeyOf(gauges, metric)) {
    refuseRange(query);
    const counted = await countRunningJobs(database, subject.organizationId, subject.workflowIds);
    return { metric, points: [{ at: toTime(now), value: counted[gauges[metric]] }] };
  }
  const { bucket, range } = rangeOf(query, subject, now);
  const about = { metric, bucket, from: toTime(range.from), to: toTime(range.to) };
  if (isKeyOf(counts, metric)) {
    const aggregation = chosenAggregation(query, ["sum"]);
    const rows = await counts[metric](database, range);
    return { ...about, aggregation, points: pointsOf(range, rows, ({ count }) => count, 0) };
  }
  const aggregation = chosenAggregation(query, durationAggregations);
  const rows = await durations[metric](database, range);
  return { ...about, aggregation, points: pointsOf(range, rows, (row) => row[aggregation], null) };
}

function isKeyOf<Table extends object>(table: Table, name: string): name is Extract<keyof Table, string> {
  return Object.hasOwn(table, name);
}

/** The first is the default. */
function chosenAggregation<const Allowed extends string>(query: Query, allowed: readonly Allowed[]): Allowed {
  const chosen = allowed.find((candidate) => candidate === (query.aggregation ?? allowed[0]));
  if (chosen === undefined) throw invalid("aggregation", `must be ${allowed.join(", ")} for ${query.metric}`);
  return chosen;
}

function refuseRange(query: Query): void {
  for (const name of ["aggregation", "bucket", "from", "to"] as const) {
    if (query[name] !== undefined) throw invalid(name, `has no meaning for ${query.metric}, which is what is now`);
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
  if (from >= to) throw invalid("from", "must be earlier than to");
  if (to - from > maxCount * bucketMs) throw invalid("from", `must be at most ${maxCount} ${bucket}s before to`);
  const range: MetricRange = { ...subject, from, to, bucketSeconds: seconds };
  return { bucket, range };
}

function pointsOf<Row extends { readonly bucket: number }>(
  { from, to, bucketSeconds }: MetricRange,
  rows: readonly Row[],
  measure: (row: Row) => number,
  empty: number | null,
): Metric["points"] {
  const values = new Map(rows.map((row) => [row.bucket, measure(row)]));
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
