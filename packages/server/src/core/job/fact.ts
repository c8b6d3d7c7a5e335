import type { Actor } from "../actor.ts";
import type { ChildTerms, TaskTerms } from "../definition/executor-kind.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Problem } from "../problem.ts";
import type { Timestamp } from "../time.ts";
import type { NumberedResult } from "./branch-result.ts";
import type { CallName } from "./call.ts";
import type { HistoryEntry } from "./history.ts";
import type { BranchError, Job, StepError, WaitVisit } from "./job-state.ts";

/** A fact about a job: the input of the state machine. `at` is its time, by the database's clock. */
export type Fact =
  | StepSucceeded
  | StepFailed
  | StepInterrupted
  | CallHandedBack
  | EventReceived
  | TimerDue
  | JobCancelled
  | JobResumed
  | ParentCalled
  | ParentLeft;

type WithoutTime<F> = F extends Fact ? Omit<F, "at"> : never;
/** A fact to which no transaction has given a time yet. */
export type UntimedFact = WithoutTime<Fact>;

/**
 * A fact about the call that it names. If the branch waits for another call, or for none, the fact comes too late and is not applied.
 */
export interface CallOutcome extends CallName {
  readonly at: Timestamp;
  /**
   * Set when the outcome does not come from a node. "worker": a worker reports it. Such an outcome cannot end a call of a node, and a worker that
   * reports too late is told so. "job": the outcome is the end of the child.
   */
  readonly by?: "worker" | "job";
}

export interface StepSucceeded extends CallOutcome {
  readonly type: "step.succeeded";
  readonly output: JsonValue;
}

export interface StepFailed extends CallOutcome {
  readonly type: "step.failed";
  readonly failure: Failure;
  /** A random number from 0 up to 1, for the jitter of the next attempt. */
  readonly random: number;
}

export interface Failure {
  readonly error: StepError;
  /**
   * - `permanent`: the call would fail again, so it is not tried again.
   * - `ordinary`: the call is tried again as the step's policy says.
   * - `transient`: the call was not carried out (throttled, unreachable), or does no harm when it is made twice. It is tried again even without a
   *   policy.
   * - `postponed`: the service itself could not begin the call yet, for example because there was no room. It is tried again after `retryAfterMs`,
   *   any number of times.
   */
  readonly kind: "permanent" | "ordinary" | "transient" | "postponed";
  /** The time to wait before the next attempt, in milliseconds. The called side asked for it, or the service itself when it postponed the call. */
  readonly retryAfterMs?: number;
}

/** The call was lost after it had begun. */
export interface StepInterrupted extends CallOutcome {
  readonly type: "step.interrupted";
  /**
   * True when the node or worker that made the call is lost. False when the node is alive but does not know the call. Then the loss does not make the
   * call a suspect.
   */
  readonly isNodeDead: boolean;
}

/**
 * A call that was not completed. The node has not begun it, gives it up because the node stops, or died before it began the call. Or a worker hands
 * its task back.
 */
export interface CallHandedBack extends CallOutcome {
  readonly type: "call.handedBack";
  /** True when the call had begun. The next call then has the next attempt number. */
  readonly begun: boolean;
}

export interface EventReceived {
  readonly type: "event.received";
  readonly at: Timestamp;
  readonly eventId: string;
  readonly payload?: JsonValue;
  /** The only step that the event is for. When it is left out, the event is for any wait. */
  readonly step?: string;
  /** The branch in which `step` is; left out for the main line. */
  readonly branch?: string;
  /** The only visit of `step` that the event is for. When it is left out, the event is for the visit that waits now, or else for the next one. */
  readonly visit?: number;
  readonly sentBy: Actor;
  /** The number of an unmatched event with the same id that is kept already; null when there is none. */
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

/** The parent's step asks for this job again, after a retry or a resume. All attempts of a visit share one child. */
export interface ParentCalled {
  readonly type: "parent.called";
  readonly at: Timestamp;
  /** The parent's call that waits for the job now; undefined when no call of the parent waits for it. */
  readonly epoch: number | undefined;
}

/** The parent's call ended before the job did: the parent was cancelled, has failed, or gave the call up. */
export interface ParentLeft {
  readonly type: "parent.left";
  readonly at: Timestamp;
  readonly epoch: number;
}

/** A call that the engine has to make when the change is committed. */
export interface CallEffect extends CallName {
  readonly type: "call";
  readonly attempt: number;
  /** The step's config, with the values of its expressions. */
  readonly config: JsonObject;
  readonly input: JsonValue;
  /** True when nodes were lost more than once while they made this call. A node begins such calls one after another. Never true for a task. */
  readonly isSuspect: boolean;
  /** How a worker gets the call. Left out when a node makes the call. */
  readonly task?: Task;
  /** The child job to make. Left out for any other call. */
  readonly child?: NewChild;
}

/** A child job that a node is to make. */
export interface NewChild extends ChildTerms {
  readonly jobId: string;
  /** The time at which the attempt is given up; null when it has no timeout. */
  readonly timeoutAt: Timestamp | null;
}

/** A call that waits in a queue until a worker takes it. */
export interface Task extends TaskTerms {
  /** The time at which the attempt is given up; null when it has no timeout. */
  readonly timeoutAt: Timestamp | null;
}

/** A change of the events that are kept for the job. It is written together with the job. */
export type EventChange =
  | {
      readonly type: "kept";
      readonly eventNumber: number;
      readonly eventId: string;
      readonly payload: JsonValue | undefined;
      /** The only visit that the event is for; undefined when it is for any wait. */
      readonly address: WaitVisit | undefined;
      readonly outcome: "matched" | "buffered" | "unmatched";
      readonly sentBy: Actor;
      readonly at: Timestamp;
    }
  | { readonly type: "repeated"; readonly eventNumber: number; readonly at: Timestamp }
  | {
      readonly type: "consumed";
      readonly eventNumber: number;
      /** Left out for the main line. */
      readonly branch?: string;
      readonly step: string;
      readonly visit: number;
      readonly at: Timestamp;
    };

export type EventOutcome = "matched" | "buffered" | "unmatched" | "duplicate";

/** The result of a fact. */
export type Verdict =
  | { readonly type: "applied" }
  | {
      readonly type: "event";
      readonly outcome: EventOutcome;
      /** The parts of the payload that reach no step. Pointers lead into the request body. */
      readonly warnings: readonly Problem[];
    }
  /** Nothing changes, and this is normal: the job is finished, the epoch is old, or nothing is due. */
  | { readonly type: "ignored" }
  /** The job does not accept what the caller asked for. */
  | {
      readonly type: "rejected";
      readonly code: "ConflictError" | "RateLimitError" | "ValidationError";
      readonly detail: string;
      readonly problems?: readonly Problem[];
      /** Set when the job may accept the same fact later, when the job has gone on. */
      readonly isPassing?: true;
    };

export interface Change {
  readonly job: Job;
  readonly entries: readonly HistoryEntry[];
  readonly events: readonly EventChange[];
  readonly effects: readonly CallEffect[];
  /** The results that get rows of their own. Each is the result of a branch. */
  readonly results: readonly NumberedResult[];
  /** The notice for the parent, when this change ends the job and the parent waits for it. Left out otherwise. */
  readonly notice?: ChildNotice;
  readonly verdict: Verdict;
}

/** The end of a child job, for the call of its parent. */
export interface ChildNotice {
  readonly epoch: number;
  readonly outcome: ChildOutcome;
}

export type ChildOutcome = { readonly output: JsonValue } | { readonly error: BranchError };
