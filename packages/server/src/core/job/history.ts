import type { JsonValue } from "../json/json.ts";
import type { ShownValue } from "../json/json-text.ts";
import type { Actor, JobError, StepError, Timestamp } from "./job-state.ts";

/** One transition of a job. `sequence` counts from 1 without gaps; what is stored is exactly this. */
export type HistoryEntry = Entry<StoredValue>;

/** `Value` is the form in which the entry has the input or the output of a step. */
export type Entry<Value> = { readonly sequence: number; readonly at: Timestamp } & Transition<Value>;

export type Transition<Value = StoredValue> =
  | { readonly type: "job.submitted"; readonly by: Actor }
  | { readonly type: "job.started" }
  | { readonly type: "step.started"; readonly step: string; readonly visit: number; readonly input: Value }
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
      readonly output: Value;
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
  | { readonly same: "jobInput" | "previousOutput" | "stepInput" }
  | StoredApart;

/** A value that has a row of its own, under this number. */
export interface StoredApart {
  readonly stored: number;
}

/** The number of the job's input, which has a column instead. */
export const jobInputNumber = 0;

/** Where a value is: in the entry itself, apart from it, or out of what was read, which is bounded. */
export type ValuePlace = { readonly value: JsonValue } | StoredApart | { readonly leftOut: true };

const jobInputPlace: ValuePlace = { stored: jobInputNumber };

/** An entry that can be understood without the entries before it. */
export type PlacedEntry = Entry<ValuePlace>;

/** An entry with its value. */
export type PlainEntry = Entry<ShownValue>;

/**
 * Takes entries in their order and says where their values are. `stepInput` is the input of the step whose start is before the first of them, needed
 * where `namesEarlierInput` says so.
 */
export function entryPlacer(
  stepInput: ValuePlace = { leftOut: true },
): (entry: Entry<StoredValue | ValuePlace>) => PlacedEntry {
  let previousOutput: ValuePlace = jobInputPlace;
  let currentInput = stepInput;
  const placeOf = (stored: StoredValue | ValuePlace): ValuePlace => {
    if (!("same" in stored)) return stored;
    switch (stored.same) {
      case "jobInput":
        return jobInputPlace;
      case "previousOutput":
        return previousOutput;
      case "stepInput":
        return currentInput;
    }
  };
  return (entry) => {
    if (entry.type === "step.started") {
      currentInput = placeOf(entry.input);
      return { ...entry, input: currentInput };
    }
    if (entry.type === "step.succeeded") {
      previousOutput = placeOf(entry.output);
      return { ...entry, output: previousOutput };
    }
    return entry;
  };
}

/** Whether one of these entries says that its value is the input of a step that was started before them. */
export function namesEarlierInput(entries: readonly HistoryEntry[]): boolean {
  const first = entries.find(({ type }) => type === "step.started" || type === "step.succeeded");
  return first?.type === "step.succeeded" && "same" in first.output && first.output.same === "stepInput";
}

/** The value that an entry carries; undefined for one that carries none. */
export function valueIn<Value>(entry: Entry<Value>): Value | undefined {
  if (entry.type === "step.started") return entry.input;
  return entry.type === "step.succeeded" ? entry.output : undefined;
}

/** The entry with its value in another form. */
export function withValue<Value, Other>(entry: Entry<Value>, toValue: (value: Value) => Other): Entry<Other> {
  if (entry.type === "step.started") return { ...entry, input: toValue(entry.input) };
  return entry.type === "step.succeeded" ? { ...entry, output: toValue(entry.output) } : entry;
}

/** A step's visit. `Value` is the form in which it has its input and its output. */
export interface StepRun<Value = ShownValue> {
  /** The sequence of the entry with which it started. */
  readonly sequence: number;
  readonly name: string;
  readonly visit: number;
  readonly status: StepRunStatus;
  readonly attempts: number;
  readonly input: Value;
  readonly output?: Value;
  /** The values were not read, since there are too many: `input` is null. */
  readonly valuesLeftOut?: true;
  readonly error?: StepError;
  readonly startedAt: Timestamp;
  readonly finishedAt?: Timestamp;
  /** While it waits for events: since when. */
  readonly waitingSince?: Timestamp;
  /** While a failed attempt's successor is not due yet. */
  readonly retryAt?: Timestamp;
}

/** GetJob shows the newest ones. */
export const maxShownStepRuns = 1_000;

export const stepRunStatuses = ["running", "success", "failure", "successful_but_incomplete"] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];

/** Replaces references by the values that they name. `entries` are the whole history from its start, in order. */
export function* plainEntries(jobInput: JsonValue, entries: Iterable<HistoryEntry>): Generator<Entry<JsonValue>> {
  const placed = entryPlacer();
  for (const entry of entries) yield withValue(placed(entry), (place) => wholeValue(jobInput, place));
}

/** Folds a job's whole history into its step runs, in the order of their start. */
export function foldSteps(jobInput: JsonValue, entries: Iterable<HistoryEntry>): StepRun<JsonValue>[] {
  const folder = new StepFolder<JsonValue>();
  for (const entry of plainEntries(jobInput, entries)) folder.add(entry);
  return folder.runs;
}

function wholeValue(jobInput: JsonValue, place: ValuePlace): JsonValue {
  if ("value" in place) return place.value;
  if ("stored" in place && place.stored === jobInputNumber) return jobInput;
  throw new Error("A whole history names a value that is not in it.");
}

/** Folds entries, in their order, into step runs. Entries before the first start are said of a run that is not among them. */
export class StepFolder<Value> {
  readonly runs: MutableRun<Value>[] = [];

  add(entry: Entry<Value>): void {
    if (entry.type === "step.started") this.runs.push(startedRun(entry));
    // A job is in one step at a time, so whatever else is said is said of the latest run.
    const run = this.runs.at(-1);
    if (run !== undefined) apply(run, entry);
  }
}

type MutableRun<Value> = { -readonly [Name in keyof StepRun<Value>]: StepRun<Value>[Name] };

function startedRun<Value>(entry: Extract<Entry<Value>, { type: "step.started" }>): MutableRun<Value> {
  const { sequence, step: name, visit, input, at: startedAt } = entry;
  return { sequence, name, visit, status: "running", attempts: 1, input, startedAt };
}

function apply<Value>(run: MutableRun<Value>, entry: Entry<Value>): void {
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

function finish(run: MutableRun<unknown>, status: StepRunStatus, at: Timestamp): void {
  run.status = status;
  run.finishedAt = at;
  delete run.waitingSince;
  delete run.retryAt;
}
