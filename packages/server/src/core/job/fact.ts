import type { JsonValue } from "../json/json.ts";
import type { Problem } from "../problem.ts";
import type { HistoryEntry } from "./history.ts";
import type { Actor, Job, StepError, Timestamp, WaitVisit } from "./job-state.ts";

/** What happened to a job: the input of the state machine. `at` is when, by the database's clock. */
export type Fact =
  | StepSucceeded
  | StepFailed
  | StepInterrupted
  | CallHandedBack
  | EventReceived
  | TimerDue
  | JobCancelled
  | JobResumed;

type WithoutTime<F> = F extends Fact ? Omit<F, "at"> : never;
/** A fact before it is in a transaction, which gives it its time. */
export type UntimedFact = WithoutTime<Fact>;

/** Names one attempt. An outcome whose epoch is no longer the job's comes from a node that lost it, and is dropped. */
interface CallOutcome {
  readonly at: Timestamp;
  readonly leaseEpoch: number;
}

export interface StepSucceeded extends CallOutcome {
  readonly type: "step.succeeded";
  readonly output: JsonValue;
}

export interface StepFailed extends CallOutcome {
  readonly type: "step.failed";
  readonly failure: Failure;
  /** From 0 up to 1, for the jitter of the next attempt. */
  readonly random: number;
}

export interface Failure {
  readonly error: StepError;
  /**
   * - `permanent`: it would fail again, so it is not tried again.
   * - `ordinary`: tried again as the step's policy says.
   * - `transient`: the call was not carried out (throttled, unreachable); tried again also without a policy.
   */
  readonly kind: "permanent" | "ordinary" | "transient";
}

/** The call was lost after it had begun, and this node has taken the job over under the named epoch. */
export interface StepInterrupted extends CallOutcome {
  readonly type: "step.interrupted";
  /** False when its node lives and only knows nothing of the call: it then counts for nothing. */
  readonly isNodeDead: boolean;
}

/** The node leaves and has not begun the call, or gives it up; or it died and had not begun it. */
export interface CallHandedBack extends CallOutcome {
  readonly type: "call.handedBack";
  /** True when the call had begun: the next one then has the next number. */
  readonly begun: boolean;
}

export interface EventReceived {
  readonly type: "event.received";
  readonly at: Timestamp;
  readonly eventId: string;
  readonly payload?: JsonValue;
  /** The only step that it is for. */
  readonly step?: string;
  /** The only visit of `step` that it is for; left out: the one that waits now, otherwise the next one. */
  readonly visit?: number;
  readonly sentBy: Actor;
  /** For an id that this version does not list: the number of the kept event with the same id, if there is one. */
  readonly keptAs: number | null;
}

export interface TimerDue {
  readonly type: "timer.due";
  readonly at: Timestamp;
}

export interface JobCancelled {
  readonly type: "job.cancelled";
  readonly at: Timestamp;
  readonly by: Actor;
}

export interface JobResumed {
  readonly type: "job.resumed";
  readonly at: Timestamp;
  readonly by: Actor;
}

/** A call that the engine owes the outside once the change is committed. */
export interface CallEffect {
  readonly type: "call";
  readonly step: string;
  readonly visit: number;
  readonly attempt: number;
  readonly input: JsonValue;
  readonly leaseEpoch: number;
  /** True when its attempts were lost with their nodes more than once: it must be the only such call that its node carries out. */
  readonly isSuspect: boolean;
}

/** A change of the events that are kept for the job, to be written with it. */
export type EventChange =
  | {
      readonly type: "kept";
      readonly eventNumber: number;
      readonly eventId: string;
      readonly payload: JsonValue | undefined;
      /** The only visit that it is for. */
      readonly address: WaitVisit | undefined;
      readonly outcome: "matched" | "buffered" | "unmatched";
      readonly sentBy: Actor;
      readonly at: Timestamp;
    }
  | { readonly type: "repeated"; readonly eventNumber: number; readonly at: Timestamp }
  | {
      readonly type: "consumed";
      readonly eventNumber: number;
      readonly step: string;
      readonly visit: number;
      readonly at: Timestamp;
    };

export type EventOutcome = "matched" | "buffered" | "unmatched" | "duplicate";

/** What a fact did. */
export type Verdict =
  | { readonly type: "applied" }
  | {
      readonly type: "event";
      readonly outcome: EventOutcome;
      /** What of the payload reaches no step; pointers lead into the body that carried it. */
      readonly warnings: readonly Problem[];
    }
  /** Normal, and nothing to write: the job is finished, the epoch is old, nothing is due. */
  | { readonly type: "ignored" }
  /** The caller asked for what the job's state does not allow. */
  | {
      readonly type: "rejected";
      readonly code: "ConflictError" | "RateLimitError" | "ValidationError";
      readonly detail: string;
      readonly problems?: readonly Problem[];
    };

export interface Change {
  readonly job: Job;
  readonly entries: readonly HistoryEntry[];
  readonly events: readonly EventChange[];
  readonly effects: readonly CallEffect[];
  readonly verdict: Verdict;
}
