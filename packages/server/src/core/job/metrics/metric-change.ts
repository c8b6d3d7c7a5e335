import { durationClassOf } from "./duration-class.ts";
import { type Count, type Measure, measures } from "./job-counts.ts";

/** How much was counted, and the sum and the maximum of the durations. */
export interface MetricSums {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

/** The change that jobs of one workflow make to one measure in one hour. Hours are counted from 1970. A measure without durations uses class 0. */
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

/** The workflow id of the sums over all workflows of an organization. */
const allWorkflows = "00000000-0000-0000-0000-000000000000";

const hourSeconds = 3_600;
const daySeconds = 86_400;

/** Adds up counts. The result has one change for each workflow, measure, hour and class. Every commit does this for all of its jobs. */
export class ChangeSum {
  readonly #byWorkflow = new Map<string, Map<number, MutableChange>>();

  add(workflowId: string, counts: readonly Count[]): void {
    let sums = this.#byWorkflow.get(workflowId);
    if (sums === undefined) {
      sums = new Map();
      this.#byWorkflow.set(workflowId, sums);
    }
    for (const { measure, at, count, durationMs } of counts) {
      const hour = Math.floor(at / 1000 / hourSeconds);
      const durationClass = durationMs === null ? 0 : durationClassOf(durationMs);
      // The key is a number, because making a text would take longer.
      const key = (hour * measures.length + measures.indexOf(measure)) * classCount + durationClass;
      const ms = durationMs ?? 0;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { workflowId, measure, hour, durationClass, count, totalMs: ms, maxMs: ms });
      else addTo(sum, count, ms, ms);
    }
  }

  get changes(): MetricChange[] {
    return [...this.#byWorkflow.values()].flatMap((sums) => [...sums.values()]);
  }
}

/** An upper bound on the number of duration classes. */
const classCount = 512;

/**
 * Returns the rows to add to the rollups. Each change counts four times: for its hour and for its day, both in its workflow and in all workflows
 * together.
 */
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
    addTo(sum, row.count, row.totalMs, row.maxMs);
  }
  return [...sums.values()];
}

type Sums = { -readonly [Name in keyof MetricSums]: MetricSums[Name] };
type MutableChange = Omit<MetricChange, keyof MetricSums> & Sums;

function addTo(sum: Sums, count: number, totalMs: number, maxMs: number): void {
  sum.count += count;
  sum.totalMs += totalMs;
  sum.maxMs = Math.max(sum.maxMs, maxMs);
}
