import { durationClassOf } from "./duration-class.ts";
import type { Count, Measure } from "./job-counts.ts";

/** The sums of a metric. */
export interface MetricSums {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

/** The change that jobs of one workflow make to one measure in one hour, counted from 1970. A measure without durations has the class 0. */
export interface MetricChange extends MetricSums {
  readonly workflowId: string;
  readonly measure: Measure;
  readonly hour: number;
  readonly durationClass: number;
}

/** One row of the rollups: the sums of one hour or one day. */
export interface MetricRollup extends Omit<MetricChange, "hour"> {
  readonly bucketSeconds: number;
  readonly bucket: number;
}

/** Stands for all workflows of an organization together. */
const allWorkflows = "00000000-0000-0000-0000-000000000000";

const hourSeconds = 3_600;
const daySeconds = 86_400;

export function changesOf(workflowId: string, counts: readonly Count[]): MetricChange[] {
  return counts.map(({ measure, at, count, durationMs }) => ({
    workflowId,
    measure,
    hour: Math.floor(at / 1000 / hourSeconds),
    durationClass: durationMs === null ? 0 : durationClassOf(durationMs),
    count,
    totalMs: durationMs ?? 0,
    maxMs: durationMs ?? 0,
  }));
}

/** One change for each workflow, measure, hour and class. */
export function sumChanges(changes: Iterable<MetricChange>): MetricChange[] {
  return sumBy(
    changes,
    ({ workflowId, measure, hour, durationClass }) => `${workflowId} ${measure} ${hour} ${durationClass}`,
  );
}

/** Answers the rows to add to the rollups: each change counts for its hour and its day, in its workflow and in all. */
export function rollUp(changes: readonly MetricChange[]): MetricRollup[] {
  const rows = changes.flatMap(({ hour, ...change }) =>
    [change.workflowId, allWorkflows].flatMap((workflowId) =>
      [hourSeconds, daySeconds].map((bucketSeconds) => {
        const bucket = Math.floor((hour * hourSeconds) / bucketSeconds);
        return { ...change, workflowId, bucketSeconds, bucket };
      }),
    ),
  );
  return sumBy(rows, ({ workflowId, measure, bucketSeconds, bucket, durationClass }) =>
    [workflowId, measure, bucketSeconds, bucket, durationClass].join(" "),
  );
}

function sumBy<Row extends MetricSums>(rows: Iterable<Row>, keyOf: (row: Row) => string): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    const sum: Sums | undefined = sums.get(key);
    if (sum === undefined) {
      sums.set(key, { ...row });
      continue;
    }
    sum.count += row.count;
    sum.totalMs += row.totalMs;
    sum.maxMs = Math.max(sum.maxMs, row.maxMs);
  }
  return [...sums.values()];
}

type Sums = { -readonly [Name in keyof MetricSums]: MetricSums[Name] };
