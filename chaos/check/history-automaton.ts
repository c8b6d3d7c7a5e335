import type { Transition } from "../../packages/server/src/core/job/history.ts";
import type { JobStatus } from "../operation.ts";

/**
 * What a job's history says of the job, found without the service's own code: a second opinion on its state machine. Only the
 * types of the entries are the service's, so that a new one cannot be forgotten here.
 */
export interface Fold {
  readonly status: JobStatus;
  readonly sequence: number;
  readonly hasStarted: boolean;
  readonly steps: readonly StepFold[];
  readonly eventCount: number;
  /** Events received and not consumed: number → id. */
  readonly kept: ReadonlyMap<number, string>;
}

export interface StepFold {
  readonly name: string;
  readonly visit: number;
  readonly attempt: number;
  readonly phase: "running" | "betweenAttempts" | "waiting" | "succeeded" | "failed";
  /** Of a step that waits or has waited. */
  readonly eventIds: readonly string[];
  /** The ids of the events that it consumed. */
  readonly consumed: readonly string[];
}

export type Entry = { readonly sequence: number } & Transition;

/** Throws `NotAPath` at the first entry that cannot follow the ones before it. */
export function foldHistory(entries: readonly Entry[]): Fold {
  return entries.reduce((fold, entry) => {
    check(entry.sequence === fold.sequence + 1, entry, `follows number ${fold.sequence}`);
    return { ...next(fold, entry), sequence: entry.sequence };
  }, nothingYet);
}

export class NotAPath extends Error {}

const nothingYet: Fold = {
  status: "PENDING",
  sequence: 0,
  hasStarted: false,
  steps: [],
  eventCount: 0,
  kept: new Map(),
};

function next(fold: Fold, entry: Entry): Fold {
  check((entry.type === "job.submitted") === (fold.sequence === 0), entry, "does not stand at the beginning, or twice");
  const isLive = fold.status === "PENDING" || fold.status === "RUNNING";
  check(isLive !== (entry.type === "job.resumed"), entry, `comes while the job is ${fold.status}`);
  const last = fold.steps.at(-1);
  const isBetweenSteps = last === undefined || last.phase === "succeeded" || last.phase === "failed";

  switch (entry.type) {
    case "job.submitted":
      return fold;
    case "job.started":
      check(!fold.hasStarted && fold.status === "PENDING", entry, "is a second start");
      return { ...fold, hasStarted: true, status: "RUNNING" };
    case "job.resumed":
      return { ...fold, status: "PENDING" };
    case "step.started": {
      check(fold.hasStarted && isBetweenSteps, entry, "comes while another step is under way");
      const visit = fold.steps.filter(({ name }) => name === entry.step).length + 1;
      check(entry.visit === visit, entry, `should be visit ${visit}`);
      const started: StepFold = { name: entry.step, visit, attempt: 1, phase: "running", eventIds: [], consumed: [] };
      return { ...fold, status: "RUNNING", steps: [...fold.steps, started] };
    }
    case "step.attemptStarted": {
      // A resumed job enters the step again in which it ended.
      const isResumed = fold.status === "PENDING" && last?.phase !== "succeeded";
      const step = ofLatest(
        fold,
        entry,
        isResumed ? ["failed", "running", "betweenAttempts", "waiting"] : ["betweenAttempts"],
      );
      check(
        entry.attempt === step.attempt || entry.attempt === step.attempt + 1,
        entry,
        `follows attempt ${step.attempt}`,
      );
      return { ...withLatest(fold, { ...step, attempt: entry.attempt, phase: "running" }), status: "RUNNING" };
    }
    case "step.attemptFailed":
    case "step.interrupted":
    case "step.handedBack":
      return withLatest(fold, { ...ofLatest(fold, entry, ["running"]), phase: "betweenAttempts" });
    case "step.waiting": {
      const step = ofLatest(fold, entry, ["running"]);
      return withLatest(fold, { ...step, phase: "waiting", eventIds: entry.eventIds });
    }
    case "step.succeeded": {
      const step = ofLatest(fold, entry, ["running", "waiting"]);
      const numbers = entry.consumed ?? [];
      const consumed = numbers.map(
        (number) => fold.kept.get(number) ?? fail(entry, `consumes event ${number}, which is not there`),
      );
      check(new Set(numbers).size === numbers.length, entry, "consumes an event twice");
      const kept = new Map([...fold.kept].filter(([number]) => !numbers.includes(number)));
      return { ...withLatest(fold, { ...step, phase: "succeeded", consumed }), kept };
    }
    case "step.failed": {
      const step = ofLatest(fold, entry, ["running", "betweenAttempts", "waiting"]);
      return withLatest(fold, { ...step, phase: "failed" });
    }
    case "event.received": {
      check(entry.eventNumber === fold.eventCount + 1, entry, `should be event ${fold.eventCount + 1}`);
      check(![...fold.kept.values()].includes(entry.eventId), entry, "is kept twice; the second is a duplicate");
      const isAwaited = last?.phase === "waiting" && last.eventIds.includes(entry.eventId);
      check(isAwaited === (entry.outcome === "matched"), entry, isAwaited ? "is awaited" : "is not awaited");
      const kept = new Map(fold.kept).set(entry.eventNumber, entry.eventId);
      return { ...fold, kept, eventCount: entry.eventNumber };
    }
    case "job.succeeded":
      check(last?.phase === "succeeded", entry, "comes before the last step has succeeded");
      return { ...fold, status: "SUCCEEDED" };
    case "job.failed":
      check(isBetweenSteps && fold.hasStarted, entry, "comes while a step is under way");
      return { ...fold, status: "FAILED" };
    case "job.cancelled":
      return { ...fold, status: "CANCELLED" };
    default:
      return fail(entry satisfies never, "is of an unknown type");
  }
}

function ofLatest(
  fold: Fold,
  entry: Entry & { step: string; visit: number },
  phases: readonly StepFold["phase"][],
): StepFold {
  const step = fold.steps.at(-1);
  check(step?.name === entry.step && step.visit === entry.visit, entry, "speaks of a step that is not the latest");
  check(phases.includes(step.phase), entry, `comes while the step is ${step.phase}`);
  return step;
}

function withLatest(fold: Fold, step: StepFold): Fold {
  return { ...fold, steps: [...fold.steps.slice(0, -1), step] };
}

function check(
  holds: boolean,
  entry: { readonly sequence: number; readonly type: string },
  complaint: string,
): asserts holds {
  if (!holds) fail(entry, complaint);
}

function fail(entry: { readonly sequence: number; readonly type: string }, complaint: string): never {
  throw new NotAPath(`Entry ${entry.sequence} (${entry.type}) ${complaint}.`);
}
