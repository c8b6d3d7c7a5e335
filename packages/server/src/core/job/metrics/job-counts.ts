import { mainBranch } from "../../branch-path.ts";
import type { Timestamp } from "../../time.ts";
import { type HistoryEntry, runKeyOf, type StepRunKey } from "../history.ts";
import type { CurrentStep, Job } from "../job-state.ts";

/**
 * The measures of metrics. A measure that ends in `Duration` counts jobs or steps that succeeded, by their duration. `storedBytes` counts bytes and
 * not jobs or steps.
 */
export const measures = [
  "jobsSubmitted",
  "jobsFailed",
  "jobsCancelled",
  "jobDuration",
  "stepFailures",
  "stepRetries",
  "stepDuration",
  "storedBytes",
] as const;

export type Measure = (typeof measures)[number];

/** One count for the time `at`. `count` is 1 for a job or a step, -1 to take one back, or a number of bytes. */
export interface Count {
  readonly measure: Measure;
  readonly at: Timestamp;
  readonly count: number;
  readonly durationMs: number | null;
}

/** The part of a job's life before the counted entries. */
export interface EarlierLife {
  readonly createdAt: Timestamp;
  /** The job's end, if the job was FAILED or CANCELLED. */
  readonly end: JobEnd | undefined;
  /** The start of a visit that began before the counted entries; undefined when it is not known. */
  readonly startOf: (run: StepRunKey) => Timestamp | undefined;
}

export interface JobEnd {
  readonly measure: "jobsFailed" | "jobsCancelled";
  readonly at: Timestamp;
}

export type CountedEntry = Pick<HistoryEntry, "type" | "at"> & Partial<StepRunKey>;

/**
 * Counts these entries of one job. When a job is resumed, its earlier end no longer counts: a count of -1 is added that has the time of that end. The
 * counts are the same whether an entry is counted in its own commit or later, because the job's row was locked when the entry was written: everything
 * on which the entry depends had been committed before. The count is incomplete when `earlier` lacks something that the entries need.
 */
export function countEntries(
  earlier: EarlierLife,
  entries: Iterable<CountedEntry>,
): { readonly counts: readonly Count[]; readonly isComplete: boolean } {
  const counts: Count[] = [];
  let isComplete = true;
  const starts = new Map<string, Timestamp>();
  let { end } = earlier;
  const add = (measure: Measure, at: Timestamp, count: 1 | -1 = 1, durationMs: number | null = null) =>
    counts.push({ measure, at, count, durationMs });
  for (const { type, at, branch = mainBranch, step = "", visit = 0 } of entries) {
    switch (type) {
      case "job.submitted":
        add("jobsSubmitted", at);
        break;
      case "step.started":
        starts.set(runKeyOf({ branch, step, visit }), at);
        break;
      case "step.succeeded": {
        const startedAt = starts.get(runKeyOf({ branch, step, visit })) ?? earlier.startOf({ branch, step, visit });
        if (startedAt === undefined) isComplete = false;
        else add("stepDuration", at, 1, at - startedAt);
        break;
      }
      case "step.failed":
        add("stepFailures", at);
        break;
      case "step.attemptFailed":
        add("stepRetries", at);
        break;
      case "job.succeeded":
        add("jobDuration", at, 1, at - earlier.createdAt);
        break;
      case "job.failed":
      case "job.cancelled":
        end = { measure: type === "job.failed" ? "jobsFailed" : "jobsCancelled", at };
        add(end.measure, at);
        break;
      case "job.resumed":
        if (end === undefined) isComplete = false;
        else add(end.measure, end.at, -1);
        end = undefined;
        break;
    }
  }
  return { counts, isComplete };
}

/** Returns the earlier life of a job, as far as the job's row has it; `before` is undefined for a new job. */
export function earlierLifeOf(before: Job | undefined, createdAt: Timestamp): EarlierLife {
  const cursors = before?.state.status === "RUNNING" ? before.state.cursors : [];
  let stands: ReadonlyMap<string, CurrentStep> | undefined;
  const standOf = (branch: string) => {
    if (cursors.length === 1) return branch === mainBranch ? cursors[0]?.stand : undefined;
    stands ??= new Map(cursors.map((cursor) => [cursor.branch, cursor.stand]));
    return stands.get(branch);
  };
  return {
    createdAt,
    end: before && endOf(before),
    startOf: (run) => startIn(standOf(run.branch ?? mainBranch), run),
  };
}

function endOf({ state: { status }, finishedAt }: Job): JobEnd | undefined {
  if (finishedAt === null || (status !== "FAILED" && status !== "CANCELLED")) return undefined;
  return { measure: status === "FAILED" ? "jobsFailed" : "jobsCancelled", at: finishedAt };
}

function startIn(stand: CurrentStep | undefined, { step, visit }: StepRunKey): Timestamp | undefined {
  if (stand === undefined || stand.phase === "next" || stand.phase === "stopped") return undefined;
  return stand.name === step && stand.visit === visit ? stand.startedAt : undefined;
}
