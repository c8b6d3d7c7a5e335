import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import type { StepStatus } from "../../graph/step-look.ts";

export type StepError = NonNullable<HistoryEntry["error"]>;

/** A span of time in which a job did one thing, in milliseconds since 1970. A span without an end is still running. */
export interface Span {
  readonly kind: "queued" | "attempt" | "pause" | "waiting" | "sleeping";
  readonly start: number;
  readonly end?: number;
  /** The number of the attempt to which the span belongs; left out for a pause and for time in the queue. */
  readonly attempt?: number;
  readonly outcome?: "succeeded" | "failed" | "interrupted" | "handedBack" | "workerLost" | "released" | "cancelled";
  readonly error?: StepError;
}

/** A visit of a step, in one branch. */
export interface StepRun {
  readonly key: string;
  readonly name: string;
  /** The path of the branch; empty for the main line. */
  readonly branch: string;
  readonly visit: number;
  readonly status: StepStatus;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: StepError;
  readonly start: number;
  readonly end?: number;
  readonly spans: readonly Span[];
  /** The number of the latest attempt. */
  readonly attempts: number;
  /** The time at which the next attempt is due. */
  readonly retryAt?: string;
  /** The events for which the run waits or has waited. */
  readonly eventIds?: readonly string[];
  readonly receivedEventIds: readonly string[];
  readonly timeoutAt?: string;
  /** The time until which the run sleeps. */
  readonly delayEndsAt?: string;
  /** True when the calls of the step are tasks of workers. */
  readonly isTask: boolean;
  /** The number of branches, and whether they are the items of a list. Left out if the step has no branches. */
  readonly fork?: { readonly branchCount: number; readonly hasItems: boolean };
  /** True when the run has ended and its last entry names the next step. */
  readonly leadsOn?: boolean;
}

/** A run that is still being put together from the history. */
export type OpenRun = Mutable<Omit<StepRun, "spans" | "receivedEventIds">> & {
  spans: Mutable<Span>[];
  receivedEventIds: string[];
};

export type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** Names a run; `branch` is left out for the main line. */
export function keyOfRun({
  branch = "",
  step = "",
  visit = 1,
}: Pick<HistoryEntry, "branch" | "step" | "visit">): string {
  return `${branch}\n${step}\n${visit}`;
}

/** The run that an entry begins. */
export function startedRun(entry: HistoryEntry, isTask: boolean): OpenRun {
  const { step: name = "", visit = 1, branch = "", input } = entry;
  const start = Date.parse(entry.at);
  return {
    key: keyOfRun(entry),
    name,
    branch,
    visit,
    status: "running",
    input,
    start,
    spans: [{ kind: "attempt", start, attempt: 1 }],
    attempts: 1,
    receivedEventIds: [],
    isTask,
  };
}

/** Adds to a run what an entry says about it. */
export function tellOfStep(run: OpenRun, entry: HistoryEntry, at: number): void {
  switch (entry.type) {
    case "step.attemptStarted":
      run.status = "running";
      run.attempts = entry.attempt ?? run.attempts + 1;
      delete run.retryAt;
      delete run.error;
      delete run.end;
      close(run, at, {});
      run.spans.push({ kind: "attempt", start: at, attempt: run.attempts });
      return;
    case "step.attemptFailed":
      close(run, at, { outcome: "failed", ...(entry.error !== undefined && { error: entry.error }) });
      run.status = "retrying";
      if (entry.error !== undefined) run.error = entry.error;
      if (entry.retryAt !== undefined) run.retryAt = entry.retryAt;
      run.spans.push({ kind: "pause", start: at });
      return;
    case "step.interrupted":
      close(run, at, { outcome: run.isTask ? "workerLost" : "interrupted" });
      return;
    case "step.handedBack":
      close(run, at, { outcome: run.isTask ? "released" : "handedBack" });
      run.status = "retrying";
      run.spans.push({ kind: "pause", start: at });
      return;
    case "step.waiting":
      pass(run, "waiting");
      run.eventIds = entry.eventIds ?? [];
      if (entry.timeoutAt !== undefined) run.timeoutAt = entry.timeoutAt;
      return;
    case "step.delayed":
      pass(run, "sleeping");
      if (entry.delayEndsAt !== undefined) run.delayEndsAt = entry.delayEndsAt;
      return;
    case "step.forked":
      run.fork = { branchCount: entry.branchCount ?? 0, hasItems: entry.items !== undefined };
      return;
    case "step.succeeded":
      run.output = entry.output;
      run.leadsOn = typeof entry.next === "string";
      endRun(run, at, "succeeded");
      return;
    case "step.failed":
      if (entry.error !== undefined) run.error = entry.error;
      run.leadsOn = typeof entry.next === "string";
      endRun(run, at, "failed", entry.error === undefined ? {} : { error: entry.error });
      return;
    default:
      return;
  }
}

/** Marks the run, and the span of its latest attempt, as waiting for events or as sleeping until a time. */
function pass(run: OpenRun, how: "waiting" | "sleeping"): void {
  run.status = how;
  const attempt = run.spans.at(-1);
  if (attempt !== undefined) attempt.kind = how;
}

export function endRun(
  run: OpenRun,
  at: number,
  outcome: "succeeded" | "failed" | "cancelled",
  more: Pick<Span, "error"> = {},
): void {
  close(run, at, { outcome, ...more });
  run.status = outcome;
  run.end = at;
  delete run.retryAt;
  delete run.delayEndsAt;
}

function close(run: OpenRun, at: number, how: Pick<Span, "outcome" | "error">): void {
  const last = run.spans.at(-1);
  if (last === undefined || last.end !== undefined) return;
  Object.assign(last, { end: at }, last.kind === "pause" ? {} : how);
}

/** Whether a wait has received an event that it lists. A wait for only some of its events may succeed without the others. */
export type AwaitedState = "received" | "missing" | "unneeded";

export function awaitedStateOf({ receivedEventIds, status }: StepRun, eventId: string): AwaitedState {
  if (receivedEventIds.includes(eventId)) return "received";
  return status === "succeeded" ? "unneeded" : "missing";
}
