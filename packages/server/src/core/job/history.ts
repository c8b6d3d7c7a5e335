import type { Actor } from "../actor.ts";
import { mainBranch, pathsOf } from "../branch-path.ts";
import type { JsonValue } from "../json/json.ts";
import type { ShownValue } from "../json/json-text.ts";
import type { Timestamp } from "../time.ts";
import type { JobError, StepError } from "./job-state.ts";

/** One entry of a job's history, exactly as it is stored. `sequence` counts from 1 without gaps. */
export type HistoryEntry = Entry<StoredValue>;

/** A history entry. `Value` is the form in which the entry holds its value: the input, the output or the items of a step. */
export type Entry<Value> = { readonly sequence: number; readonly at: Timestamp } & Transition<Value>;

export type Transition<Value = StoredValue> =
  | { readonly type: "job.submitted"; readonly by: Actor }
  | { readonly type: "job.started" }
  | (StepRunKey & { readonly type: "step.started"; readonly input: Value })
  | (StepRunKey & { readonly type: "step.attemptStarted"; readonly attempt: number })
  | (StepRunKey & {
      readonly type: "step.attemptFailed";
      readonly attempt: number;
      readonly error: StepError;
      readonly retryAt: Timestamp;
    })
  | (StepRunKey & { readonly type: "step.interrupted"; readonly attempt: number })
  | (StepRunKey & { readonly type: "step.handedBack"; readonly attempt: number })
  | (StepRunKey & {
      readonly type: "step.waiting";
      readonly eventIds: readonly string[];
      readonly timeoutAt?: Timestamp;
    })
  | (StepRunKey & { readonly type: "step.delayed"; readonly delayEndsAt: Timestamp })
  | (StepRunKey & {
      readonly type: "step.forked";
      readonly branchCount: number;
      /** The items of a forEach. */
      readonly items?: Value;
    })
  | (StepRunKey & {
      readonly type: "step.succeeded";
      readonly attempt: number;
      readonly output: Value;
      /** Numbers of the events that a wait step consumed. */
      readonly consumed?: readonly number[];
      /** The step to which a choice led; null when the choice ended the job or the branch. Left out when the step has no choice. */
      readonly next?: string | null;
    })
  | (StepRunKey & {
      readonly type: "step.failed";
      readonly attempt: number;
      readonly error: StepError;
      /** The step of `onFailure` that takes over. */
      readonly next?: string;
    })
  | {
      readonly type: "event.received";
      readonly eventId: string;
      readonly eventNumber: number;
      readonly outcome: "matched" | "buffered" | "unmatched";
    }
  | { readonly type: "job.succeeded" }
  | { readonly type: "job.failed"; readonly error: JobError }
  | { readonly type: "job.cancelled"; readonly by: Actor }
  | { readonly type: "job.resumed"; readonly by: Actor }
  /** The parent's step, which was tried again or resumed while the job was under way, now waits for the job. */
  | { readonly type: "job.awaited" };

/** Names one run of a step: a visit of it, in one branch. */
export interface StepRunKey {
  /** The path of the branch; left out for the main line. */
  readonly branch?: string;
  readonly step: string;
  readonly visit: number;
}

/** The key as text. A line break separates its parts, because no path and no name has one. */
export function runKeyOf({ branch = mainBranch, step, visit }: StepRunKey): string {
  return `${branch}\n${step}\n${visit}`;
}

/**
 * A value, or a reference to an earlier value that is equal. Without references, a chain of no-ops over a large input would write that input twice
 * for each step.
 */
export type StoredValue =
  | { readonly value: JsonValue }
  | { readonly same: "jobInput" | "previousOutput" | "stepInput" }
  | StoredApart;

/** A value that has a row of its own, under this number. */
export interface StoredApart {
  readonly stored: number;
}

/** The number that stands for the job's input, which is in a column and not in a row of its own. */
export const jobInputNumber = 0;

/** The place of a value: in the entry itself or in a row of its own. In a bounded read, the value may be left out. */
export type ValuePlace = { readonly value: JsonValue } | StoredApart | { readonly leftOut: true };

const jobInputPlace: ValuePlace = { stored: jobInputNumber };

/** An entry that can be understood without earlier entries. */
export type PlacedEntry = Entry<ValuePlace>;

/** An entry with its value. */
export type PlainEntry = Entry<ShownValue>;

/**
 * Returns a function that takes entries, in their order, and finds where their values are. `stepInput` is the input of the step that started before
 * the first of these entries. It is needed when `namesEarlierInput` is true.
 */
export function entryPlacer(
  stepInput: ValuePlace = { leftOut: true },
): (entry: Entry<StoredValue | ValuePlace>) => PlacedEntry {
  const previousOutputs = new Map<string, ValuePlace>();
  const inputs = new Map<string, ValuePlace>();
  const placeOf = (stored: StoredValue | ValuePlace, key: StepRunKey): ValuePlace => {
    if (!("same" in stored)) return stored;
    switch (stored.same) {
      case "jobInput":
        return jobInputPlace;
      case "previousOutput":
        return previousOutputs.get(key.branch ?? mainBranch) ?? jobInputPlace;
      case "stepInput":
        return inputs.get(runKeyOf(key)) ?? stepInput;
    }
  };
  return (entry) => {
    if (entry.type === "step.started") {
      const input = placeOf(entry.input, entry);
      inputs.set(runKeyOf(entry), input);
      return { ...entry, input };
    }
    if (entry.type === "step.forked") {
      const { items, ...others } = entry;
      return items === undefined ? others : { ...others, items: placeOf(items, entry) };
    }
    if (entry.type === "step.succeeded") {
      const output = placeOf(entry.output, entry);
      previousOutputs.set(entry.branch ?? mainBranch, output);
      inputs.delete(runKeyOf(entry));
      return { ...entry, output };
    }
    return entry;
  };
}

/** Whether one of these entries refers to the input of a step that started before them. */
export function namesEarlierInput(entries: readonly HistoryEntry[]): boolean {
  const first = entries.find(({ type }) => type === "step.started" || type === "step.succeeded");
  return first?.type === "step.succeeded" && "same" in first.output && first.output.same === "stepInput";
}

/** The value that an entry carries; undefined for an entry without a value. */
export function valueIn<Value>(entry: Entry<Value>): Value | undefined {
  switch (entry.type) {
    case "step.started":
      return entry.input;
    case "step.succeeded":
      return entry.output;
    case "step.forked":
      return entry.items;
    default:
      return undefined;
  }
}

/** The entry with its value in another form. */
export function withValue<Value, Other>(entry: Entry<Value>, toValue: (value: Value) => Other): Entry<Other> {
  switch (entry.type) {
    case "step.started":
      return { ...entry, input: toValue(entry.input) };
    case "step.succeeded":
      return { ...entry, output: toValue(entry.output) };
    case "step.forked": {
      const { items, ...others } = entry;
      return items === undefined ? others : { ...others, items: toValue(items) };
    }
    default:
      return entry;
  }
}

/** One visit of a step. `Value` is the form of its input and its output. */
export interface StepRun<Value = ShownValue> {
  /** The sequence number of the history entry with which the run started. */
  readonly sequence: number;
  readonly name: string;
  /** The path of the branch; left out for the main line. */
  readonly branch?: string;
  readonly visit: number;
  readonly status: StepRunStatus;
  readonly attempts: number;
  readonly input: Value;
  readonly output?: Value;
  /** Set when the values were not read because they are too large together. `input` is then null. */
  readonly valuesLeftOut?: true;
  readonly error?: StepError;
  readonly startedAt: Timestamp;
  readonly finishedAt?: Timestamp;
  /** The time since which the step waits for events. Set while it waits. */
  readonly waitingSince?: Timestamp;
  /** The end of the sleep. Set while the step sleeps. */
  readonly delayEndsAt?: Timestamp;
  /** The time of the next attempt. Set while the step waits for it. */
  readonly retryAt?: Timestamp;
  /** The number of the step's branches, if it has any. */
  readonly branchCount?: number;
}

/** The largest number of step runs that GetJob shows. It shows the newest ones. */
export const maxShownStepRuns = 1_000;

export const stepRunStatuses = ["running", "success", "failure", "successful_but_incomplete"] as const;
export type StepRunStatus = (typeof stepRunStatuses)[number];

/** Replaces references by the values to which they refer. `entries` are the whole history from its start, in order. */
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
  throw new Error("The complete history of a job refers to a value that the history does not contain.");
}

/**
 * Folds entries, in their order, into step runs. The entries may begin in the middle of a history: an entry is left out if the start of its step run
 * is not among them.
 */
export class StepFolder<Value> {
  readonly runs: MutableRun<Value>[] = [];
  readonly #byKey = new Map<string, MutableRun<Value>>();

  add(entry: Entry<Value>): void {
    if (entry.type === "step.started") {
      const run = startedRun(entry);
      this.runs.push(run);
      this.#byKey.set(runKeyOf(entry), run);
    } else if (entry.type === "job.cancelled") {
      for (const run of this.runs) apply(run, entry);
    } else if (entry.type === "job.failed") {
      for (const run of this.runs) if (run.branch !== undefined || run.branchCount !== undefined) apply(run, entry);
    } else if ("step" in entry) {
      const run = this.#byKey.get(runKeyOf(entry));
      if (run === undefined) return;
      apply(run, entry);
      if (run.branchCount !== undefined && run.finishedAt !== undefined) this.#endBranches(run, entry);
    }
  }

  /** The end of a fork also ends everything that still runs in its branches. */
  #endBranches({ branch = mainBranch, name, visit }: MutableRun<Value>, { at }: Entry<Value>): void {
    const path = pathsOf(branch, name, visit);
    for (const run of this.runs) if (run.branch?.startsWith(path)) endEarly(run, at, branchCancelled);
  }
}

type MutableRun<Value> = { -readonly [Name in keyof StepRun<Value>]: StepRun<Value>[Name] };

function startedRun<Value>(entry: Extract<Entry<Value>, { type: "step.started" }>): MutableRun<Value> {
  const { sequence, step: name, branch, visit, input, at: startedAt } = entry;
  const place = branch === undefined ? {} : { branch };
  return { sequence, name, ...place, visit, status: "running", attempts: 1, input, startedAt };
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
    case "step.delayed":
      run.status = "successful_but_incomplete";
      run.delayEndsAt = entry.delayEndsAt;
      return;
    case "step.succeeded":
      run.output = entry.output;
      finish(run, "success", entry.at);
      return;
    case "step.failed":
      run.error = entry.error;
      finish(run, "failure", entry.at);
      return;
    case "step.forked":
      run.branchCount = entry.branchCount;
      return;
    case "job.cancelled":
      endEarly(run, entry.at, "The job was cancelled while this step was under way.");
      return;
    case "job.failed":
      endEarly(run, entry.at, "The job failed while this step was under way.");
      return;
    default:
      return;
  }
}

const branchCancelled = "The branch was cancelled while this step was under way: the step around the branch had ended.";

/** Ends a step run whose job or branch has ended. A wait or a sleep that was given up has not failed: its events or its end had not come yet. */
function endEarly(run: MutableRun<unknown>, at: Timestamp, message: string): void {
  if (run.finishedAt !== undefined) return;
  if (run.status === "successful_but_incomplete") {
    finish(run, run.status, at);
    return;
  }
  run.error = { code: "Cancelled", message };
  finish(run, "failure", at);
}

function finish(run: MutableRun<unknown>, status: StepRunStatus, at: Timestamp): void {
  run.status = status;
  run.finishedAt = at;
  delete run.waitingSince;
  delete run.delayEndsAt;
  delete run.retryAt;
}
