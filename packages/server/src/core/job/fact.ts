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
/** A fact that no transaction has given a time yet. */
export type UntimedFact = WithoutTime<Fact>;

/**
 * The name of the call that the fact is about. The fact is dropped if the branch waits for another call, or for none, because it then comes from a
 * node that lost its call.
 */
export interface CallOutcome extends CallName {
  readonly at: Timestamp;
  /**
   * Set when the outcome does not come from a node. "worker": the worker is told when it is too late, and cannot end a node's call. "job": the
   * outcome is the end of the child.
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
   * - `transient`: the call was not carried out (throttled, unreachable), and is tried again even without a policy.
   * - `postponed`: the service itself has not begun the call, for lack of room; it is tried again after `retryAfterMs`, without a limit.
   */
  readonly kind: "permanent" | "ordinary" | "transient" | "postponed";
  /** The wait in milliseconds that the called side asked for before the next attempt. */
  readonly retryAfterMs?: number;
}

/** The call was lost after it had begun, and this node has taken it over. */
export interface StepInterrupted extends CallOutcome {
  readonly type: "step.interrupted";
  /**
   * True when the node or worker that made the call is lost. False when the node is alive and does not know the call; the loss then does not count
   * against it.
   */
  readonly isNodeDead: boolean;
}

/** The node has not begun the call, or gives it up, because it is leaving; or it died before it began the call. */
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
  /** The only step that the event is for. */
  readonly step?: string;
  /** The branch of `step` that the event is for; left out for the main line. */
  readonly branch?: string;
  /** The only visit of `step` that the event is for. Left out, it is for the visit that waits now, or else for the next one. */
  readonly visit?: number;
  readonly sentBy: Actor;
  /** The number of the unmatched event that is kept with the same id; null where there is none. */
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

/** The parent's step makes this job again, after a retry or a resume; all attempts share one child. */
export interface ParentCalled {
  readonly type: "parent.called";
  readonly at: Timestamp;
  /** The parent's call that waits for the job now; undefined when the parent waits for none. */
  readonly epoch: number | undefined;
}

/** The parent's call ended without the job's outcome: the parent was cancelled, has failed, or gave the call up. */
export interface ParentLeft {
  readonly type: "parent.left";
  readonly at: Timestamp;
  readonly epoch: number;
}

/** A call that the engine owes the outside once the change is committed. */
export interface CallEffect extends CallName {
  readonly type: "call";
  readonly attempt: number;
  /** The step's config, with the values of its expressions. */
  readonly config: JsonObject;
  readonly input: JsonValue;
  /** True when its attempts were lost with their nodes more than once. A node may carry out only one such call at a time. */
  readonly isSuspect: boolean;
  /** How a worker gets the call; left out for one that a node makes. */
  readonly task?: Task;
  /** The child job that is to be made; left out for any other call. */
  readonly child?: NewChild;
}

/** A child job that a node is to make. */
export interface NewChild extends ChildTerms {
  readonly jobId: string;
  /** The time at which the attempt is given up; null where it has no timeout. */
  readonly timeoutAt: Timestamp | null;
}

/** A call that waits in a queue until a worker takes it. */
export interface Task extends TaskTerms {
  /** The time at which the attempt is given up; null where it has no timeout. */
  readonly timeoutAt: Timestamp | null;
}

/** A change of the events that are kept for the job, to be written with it. */
export type EventChange =
  | {
      readonly type: "kept";
      readonly eventNumber: number;
      readonly eventId: string;
      readonly payload: JsonValue | undefined;
      /** The only visit that the event is for. */
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
      /** The parts of the payload that reach no step; pointers lead into the request body. */
      readonly warnings: readonly Problem[];
    }
  /** A normal case without a change: the job is finished, the epoch is old, or nothing is due. */
  | { readonly type: "ignored" }
  /** The job's state does not allow what the caller asked for. */
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
  /** Results of branches that get rows of their own. */
  readonly results: readonly NumberedResult[];
  /** The notice for the parent, once a job that it waits for has ended. Left out otherwise. */
  readonly notice?: ChildNotice;
  readonly verdict: Verdict;
}

/** The end of a child job, for the call of its parent. */
export interface ChildNotice {
  readonly epoch: number;
  readonly outcome: ChildOutcome;
}

export type ChildOutcome = { readonly output: JsonValue } | { readonly error: BranchError };
