import type { HistoryEntry } from "./history.ts";
import type { Job, Timestamp } from "./job-state.ts";

/**
 * The measures of metrics. Those that end in `Duration` also have a time; a job that succeeded is counted by its duration. `storedBytes` counts bytes
 * instead of jobs or steps.
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

/** Something that counts for the time `at`. `count` is 1 for a job or a step, -1 to take one back, or a number of bytes. */
export interface Count {
  readonly measure: Measure;
  readonly at: Timestamp;
  readonly count: number;
  readonly durationMs: number | null;
}

/** The facts about a job from before the entries. */
export interface EarlierLife {
  readonly createdAt: Timestamp;
  /** How it had ended, when it had. */
  readonly end: JobEnd | undefined;
  /** When a visit of a step began, where an earlier entry says so. */
  readonly startOf: (step: string, visit: number) => Timestamp | undefined;
}

export interface JobEnd {
  readonly measure: "jobsFailed" | "jobsCancelled";
  readonly at: Timestamp;
}

/** The fields of a history entry that counting needs. */
export type CountedEntry = Pick<HistoryEntry, "type" | "at"> & { readonly step?: string; readonly visit?: number };

/**
 * Counts these entries of one job. A job that is resumed has not ended, so its end is taken back at the time for which it was counted.
 * Each row of the history adds the same whenever it is counted, since what it depends on was committed before it: the job's row was locked.
 * Not complete when the earlier life lacks something that they depend on.
 */
export function countEntries(
  earlier: EarlierLife,
  entries: Iterable<CountedEntry>,
): { readonly counts: readonly Count[]; readonly isComplete: boolean } {
  const counts: Count[] = [];
  let isComplete = true;
  // A job is in one step at a time.
  let started: { readonly step: string; readonly visit: number; readonly at: Timestamp } | undefined;
  let { end } = earlier;
  const add = (measure: Measure, at: Timestamp, count: 1 | -1 = 1, durationMs: number | null = null) =>
    counts.push({ measure, at, count, durationMs });
  for (const { type, at, step = "", visit = 0 } of entries) {
    switch (type) {
      case "job.submitted":
        add("jobsSubmitted", at);
        break;
      case "step.started":
        started = { step, visit, at };
        break;
      case "step.succeeded": {
        const isInside = started?.step === step && started.visit === visit;
        const startedAt = isInside ? started?.at : earlier.startOf(step, visit);
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

/** Tells a job's life as its row has it; `before` is undefined for a new one. */
export function earlierLifeOf(before: Job | undefined, createdAt: Timestamp): EarlierLife {
  return { createdAt, end: before && endOf(before), startOf: (step, visit) => before && startIn(before, step, visit) };
}

function endOf({ state: { status }, finishedAt }: Job): JobEnd | undefined {
  if (finishedAt === null || (status !== "FAILED" && status !== "CANCELLED")) return undefined;
  return { measure: status === "FAILED" ? "jobsFailed" : "jobsCancelled", at: finishedAt };
}

function startIn({ state }: Job, step: string, visit: number): Timestamp | undefined {
  if (state.status !== "RUNNING" || state.step.phase === "next") return undefined;
  return state.step.name === step && state.step.visit === visit ? state.step.startedAt : undefined;
}
