import type { JsonValue } from "../json/json.ts";
import type { Actor, JobError, StepError, Timestamp } from "./job-state.ts";

/** One transition of a job. `sequence` counts from 1 without gaps; what is stored is exactly this. */
export type HistoryEntry = { readonly sequence: number; readonly at: Timestamp } & Transition;

export type Transition =
  | { readonly type: "job.submitted"; readonly by: Actor }
  | { readonly type: "job.started" }
  | { readonly type: "step.started"; readonly step: string; readonly visit: number; readonly input: StoredValue }
  | { readonly type: "step.attemptStarted"; readonly step: string; readonly visit: number; readonly attempt: number }
  | {
      readonly type: "step.attemptFailed";
      readonly step: string;
      readonly visit: number;
      readonly attempt: number;
      readonly error: StepError;
      readonly retryAt: Timestamp;
    }
  | { readonly type: "step.interrupted"; readonly step: string; readonly visit: number; readonly attempt: number }
  | { readonly type: "step.handedBack"; readonly step: string; readonly visit: number; readonly attempt: number }
  | {
      readonly type: "step.waiting";
      readonly step: string;
      readonly visit: number;
      readonly eventIds: readonly string[];
      readonly timeoutAt?: Timestamp;
    }
  | {
      readonly type: "step.succeeded";
      readonly step: string;
      readonly visit: number;
      readonly attempt: number;
      readonly output: StoredValue;
      /** Numbers of the events that a wait step consumed. */
      readonly consumed?: readonly number[];
    }
  | {
      readonly type: "step.failed";
      readonly step: string;
      readonly visit: number;
      readonly attempt: number;
      readonly error: StepError;
      /** The step that `onFailure` names. */
      readonly next?: string;
    }
  | {
      readonly type: "event.received";
      readonly eventId: string;
      readonly eventNumber: number;
      readonly outcome: "matched" | "buffered" | "unmatched";
    }
  | { readonly type: "job.succeeded" }
  | { readonly type: "job.failed"; readonly error: JobError }
  | { readonly type: "job.cancelled"; readonly by: Actor }
  | { readonly type: "job.resumed"; readonly by: Actor };

/**
 * A value, or the earlier value that it is the same as. A chain of no-ops over a large input would otherwise write that input
 * twice for each step.
 */
export type StoredValue =
  | { readonly value: JsonValue }
  | { readonly same: "jobInput" | "previousOutput" | "stepInput" };

/** A step's visit, as GetJob shows it. */
export interface StepRun {
  readonly name: string;
  readonly visit: number;
  readonly status: "running" | "success" | "failure" | "successful_but_incomplete";
  readonly attempts: number;
  readonly input: JsonValue;
  readonly output?: JsonValue;
  readonly error?: StepError;
  readonly startedAt: Timestamp;
  readonly finishedAt?: Timestamp;
  /** While it waits for events: since when. */
  readonly waitingSince?: Timestamp;
  /** While a failed attempt's successor is not due yet. */
  readonly retryAt?: Timestamp;
}

/** An entry with its values in place of their references. */
export type PlainEntry =
  | Exclude<HistoryEntry, { type: "step.started" | "step.succeeded" }>
  | PlainStarted
  | PlainSucceeded;
type PlainStarted = Omit<Extract<HistoryEntry, { type: "step.started" }>, "input"> & { readonly input: JsonValue };
type PlainSucceeded = Omit<Extract<HistoryEntry, { type: "step.succeeded" }>, "output"> & {
  readonly output: JsonValue;
};

/** Replaces references by the values that they name. `entries` are the whole history from its start, in order. */
export function* plainEntries(jobInput: JsonValue, entries: Iterable<HistoryEntry>): Generator<PlainEntry> {
  let previousOutput = jobInput;
  let stepInput = jobInput;
  for (const entry of entries) {
    if (entry.type === "step.started") {
      stepInput = resolve(entry.input);
      yield { ...entry, input: stepInput };
    } else if (entry.type === "step.succeeded") {
      previousOutput = resolve(entry.output);
      yield { ...entry, output: previousOutput };
    } else {
      yield entry;
    }
  }

  function resolve(stored: StoredValue): JsonValue {
    if ("value" in stored) return stored.value;
    switch (stored.same) {
      case "jobInput":
        return jobInput;
      case "previousOutput":
        return previousOutput;
      case "stepInput":
        return stepInput;
    }
  }
}

/** Folds a job's whole history into its step runs, in the order of their start. */
export function foldSteps(jobInput: JsonValue, entries: Iterable<HistoryEntry>): StepRun[] {
  const runs: MutableRun[] = [];
  for (const entry of plainEntries(jobInput, entries)) {
    if (entry.type === "step.started") runs.push(startedRun(entry));
    // A job is in one step at a time, so whatever else is said is said of the latest run.
    const run = runs.at(-1);
    if (run !== undefined) apply(run, entry);
  }
  return runs;
}

type MutableRun = { -readonly [Name in keyof StepRun]: StepRun[Name] };

function startedRun(entry: PlainStarted): MutableRun {
  const { step: name, visit, input, at: startedAt } = entry;
  return { name, visit, status: "running", attempts: 1, input, startedAt };
}

function apply(run: MutableRun, entry: PlainEntry): void {
  switch (entry.type) {
    case "step.attemptStarted":
      run.status = "running";
      run.attempts = entry.attempt;
      delete run.error;
      delete run.retryAt;
      delete run.finishedAt;
      return;
    case "step.attemptFailed":
      run.error = entry.error;
      run.retryAt = entry.retryAt;
      return;
    case "step.waiting":
      run.status = "successful_but_incomplete";
      run.waitingSince = entry.at;
      return;
    case "step.succeeded":
      run.output = entry.output;
      finish(run, "success", entry.at);
      return;
    case "step.failed":
      run.error = entry.error;
      finish(run, "failure", entry.at);
      return;
    case "job.cancelled":
      if (run.finishedAt !== undefined) return;
      // A wait that is given up has not failed: its events just did not all come.
      if (run.status === "successful_but_incomplete") {
        finish(run, run.status, entry.at);
        return;
      }
      run.error = { code: "Cancelled", message: "The job was cancelled while this step was under way." };
      finish(run, "failure", entry.at);
      return;
    default:
      return;
  }
}

function finish(run: MutableRun, status: StepRun["status"], at: Timestamp): void {
  run.status = status;
  run.finishedAt = at;
  delete run.waitingSince;
  delete run.retryAt;
}
