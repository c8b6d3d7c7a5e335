import type { Schemas } from "../../api/document.ts";
import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import { wayKey } from "../../graph/graph.ts";
import type { StepLook, StepStatus } from "../../graph/step-look.ts";

export type JobStatus = Schemas["JobStatus"];
export type StepError = NonNullable<HistoryEntry["error"]>;

/** A stretch of time in which a job did one thing. Milliseconds since 1970; without an end it goes on. */
export interface Span {
  readonly kind: "queued" | "attempt" | "pause" | "waiting";
  readonly start: number;
  readonly end?: number;
  /** Of an attempt. */
  readonly attempt?: number;
  readonly outcome?: "succeeded" | "failed" | "interrupted" | "handedBack" | "cancelled";
  readonly error?: StepError;
}

/** A visit of a step. */
export interface StepRun {
  readonly key: string;
  readonly name: string;
  readonly visit: number;
  readonly status: StepStatus;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: StepError;
  readonly start: number;
  readonly end?: number;
  readonly spans: readonly Span[];
  /** The latest one's number. */
  readonly attempts: number;
  /** When the next attempt is due. */
  readonly retryAt?: string;
  /** While it waits, and of what it waited for. */
  readonly eventIds?: readonly string[];
  readonly receivedEventIds: readonly string[];
  readonly timeoutAt?: string;
}

/** All that a job's history says, as the page shows it. */
export interface JobStory {
  readonly status: JobStatus;
  readonly runs: readonly StepRun[];
  /** While it was in no step: pending, or ended until it was resumed. */
  readonly queued: readonly Span[];
  readonly error?: StepError;
  readonly looks: ReadonlyMap<string, StepLook>;
  readonly taken: ReadonlySet<string>;
  readonly current: StepRun | undefined;
  readonly sequence: number;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

export function tellStory(entries: readonly HistoryEntry[]): JobStory {
  const told = new Telling();
  for (const entry of entries) told.add(entry);
  return told.story();
}

export function isFinished(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] };
type OpenRun = Mutable<Omit<StepRun, "spans" | "receivedEventIds">> & {
  spans: Mutable<Span>[];
  receivedEventIds: string[];
};

class Telling {
  readonly #runs: OpenRun[] = [];
  readonly #queued: Mutable<Span>[] = [];
  readonly #story: Mutable<Pick<JobStory, "status" | "error" | "startedAt" | "finishedAt" | "sequence">> = {
    status: "PENDING",
    sequence: 0,
  };

  add(entry: HistoryEntry): void {
    const at = Date.parse(entry.at);
    this.#story.sequence = entry.sequence;
    if (entry.type.startsWith("step.")) this.#leaveQueue(at);
    if (entry.type === "step.started") this.#enter(entry, at);
    const run = this.#runs.at(-1);
    if (run !== undefined) tellOfStep(run, entry, at);
    this.#tellOfJob(entry, at);
  }

  story(): JobStory {
    const runs = this.#runs as readonly StepRun[];
    const looks = new Map(runs.map(({ name, status, visit, attempts }) => [name, { status, visit, attempts }]));
    const taken = new Set(runs.map(({ name }, index) => wayKey(runs[index - 1]?.name ?? "", name)));
    const last = runs.at(-1);
    if (this.#story.status === "SUCCEEDED" && last !== undefined) taken.add(wayKey(last.name, ""));
    return { ...this.#story, runs, queued: this.#queued, looks, taken, current: last };
  }

  #enter({ step = "", visit = 1, input }: HistoryEntry, at: number): void {
    this.#runs.push({
      key: `${step} ${visit}`,
      name: step,
      visit,
      status: "running",
      input,
      start: at,
      spans: [{ kind: "attempt", start: at, attempt: 1 }],
      attempts: 1,
      receivedEventIds: [],
    });
  }

  #tellOfJob(entry: HistoryEntry, at: number): void {
    switch (entry.type) {
      case "job.submitted":
        this.#queued.push({ kind: "queued", start: at });
        return;
      case "job.started":
        this.#leaveQueue(at);
        this.#story.startedAt = entry.at;
        return;
      case "job.resumed":
        this.#story.status = "PENDING";
        delete this.#story.finishedAt;
        delete this.#story.error;
        this.#queued.push({ kind: "queued", start: at });
        return;
      case "job.succeeded":
        this.#finish("SUCCEEDED", entry, at);
        return;
      case "job.failed":
        if (entry.error !== undefined) this.#story.error = entry.error;
        this.#finish("FAILED", entry, at);
        return;
      case "job.cancelled":
        this.#finish("CANCELLED", entry, at);
        return;
      default:
        return;
    }
  }

  #leaveQueue(at: number): void {
    this.#story.status = "RUNNING";
    const last = this.#queued.at(-1);
    if (last !== undefined) last.end ??= at;
  }

  #finish(status: JobStatus, entry: HistoryEntry, at: number): void {
    this.#leaveQueue(at);
    this.#story.status = status;
    this.#story.finishedAt = entry.at;
  }
}

/** A job is in one step at a time, so whatever is said of a step is said of the latest run. */
function tellOfStep(run: OpenRun, entry: HistoryEntry, at: number): void {
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
      close(run, at, { outcome: "interrupted" });
      return;
    case "step.handedBack":
      close(run, at, { outcome: "handedBack" });
      run.status = "retrying";
      run.spans.push({ kind: "pause", start: at });
      return;
    case "step.waiting": {
      run.status = "waiting";
      run.eventIds = entry.eventIds ?? [];
      if (entry.timeoutAt !== undefined) run.timeoutAt = entry.timeoutAt;
      // To wait is all that the attempt does.
      const attempt = run.spans.at(-1);
      if (attempt !== undefined) attempt.kind = "waiting";
      return;
    }
    case "event.received":
      if (run.status === "waiting" && entry.outcome === "matched" && entry.eventId !== undefined)
        run.receivedEventIds.push(entry.eventId);
      return;
    case "step.succeeded":
      run.output = entry.output;
      end(run, at, "succeeded", {});
      return;
    case "step.failed":
      if (entry.error !== undefined) run.error = entry.error;
      end(run, at, "failed", entry.error === undefined ? {} : { error: entry.error });
      return;
    case "job.cancelled":
      if (run.end === undefined) end(run, at, "cancelled", {});
      return;
    default:
      return;
  }
}

function end(run: OpenRun, at: number, outcome: "succeeded" | "failed" | "cancelled", more: Pick<Span, "error">): void {
  close(run, at, { outcome, ...more });
  run.status = outcome;
  run.end = at;
  delete run.retryAt;
}

function close(run: OpenRun, at: number, how: Pick<Span, "outcome" | "error">): void {
  const last = run.spans.at(-1);
  if (last === undefined || last.end !== undefined) return;
  Object.assign(last, { end: at }, last.kind === "pause" ? {} : how);
}
