import type { Entry, StepRun } from "../job/history.ts";
import type { Actor, Job, JobError, StepError, Timestamp } from "../job/job-state.ts";
import type { Plan } from "../plan/plan.ts";

/** Why a job is where it is, for whoever asks why it does not move: one sentence, and the facts that it was made from. */
export interface Explanation {
  readonly state: ExplainedState;
  readonly sentence: string;
  readonly facts: ExplanationFacts;
}

/**
 * - `due`: it goes on at once, as soon as a node looks.
 * - `roomFull`: it would, but no node has room for another call of its organization.
 * - `queued`: a node holds its call and has not begun it.
 * - `calling`: the call is under way.
 * - `nodeLost`: the node that holds the call is not heard of any more.
 * - `retrying`: the next attempt has its time.
 * - `parked`: the node that answers cannot go on with it; others may.
 */
export const explainedStates = [
  "due",
  "roomFull",
  "queued",
  "calling",
  "nodeLost",
  "retrying",
  "parked",
  "waitingForEvents",
  "succeeded",
  "failed",
  "cancelled",
] as const;

export type ExplainedState = (typeof explainedStates)[number];

/** Which there are depends on the state. */
export interface ExplanationFacts {
  /** Since when the job is in this state. */
  readonly since: Timestamp;
  readonly step?: string;
  readonly visit?: number;
  readonly attempt?: number;
  /** The number of the attempt after which the step gives up, as its retry policy stands now. */
  readonly maxAttempts?: number;
  readonly nextAttemptAt?: Timestamp;
  /** When the node that parked the job tries to go on with it again. */
  readonly retryAt?: Timestamp;
  /** When the call or the wait is given up. */
  readonly timeoutAt?: Timestamp;
  readonly lastError?: StepError;
  readonly eventIds?: readonly string[];
  readonly missingEventIds?: readonly string[];
  /** How many of the missing ones are enough. */
  readonly missingCount?: number;
  /** Of the unmatched events those whose id is nearly one that is missing. */
  readonly misspelledEvents?: readonly MisspelledEvent[];
  /** Events that are kept for another step. */
  readonly bufferedEventIds?: readonly string[];
  readonly node?: NodeFacts;
  /** Calls of the organization that nodes hold: on the job's own node where it has one, else on all. */
  readonly callCount?: number;
  readonly maxCallsPerNode?: number;
  readonly error?: JobError;
  readonly cancelledBy?: NamedActor;
  /** What helps from here, by the names of the operations. */
  readonly operations: readonly HelpfulOperation[];
}

export const helpfulOperations = ["SendJobEvent", "CancelJob", "ResumeJob", "SubmitJob"] as const;
export type HelpfulOperation = (typeof helpfulOperations)[number];

export interface MisspelledEvent {
  readonly eventId: string;
  readonly meantEventId: string;
  readonly receivedAt: Timestamp;
}

export interface NodeFacts {
  readonly nodeId: string;
  /** Undefined for a node that is forgotten already. */
  readonly name?: string;
  readonly isAlive: boolean;
  readonly heartbeatAt?: Timestamp;
}

export interface NamedActor extends Actor {
  readonly name?: string;
}

export interface Circumstances {
  readonly plan: Plan;
  readonly job: Job;
  readonly steps: readonly StepRun[];
  /** The newest part of the job's history, or all of it, in its order. */
  readonly entries: readonly Entry<unknown>[];
  readonly now: Timestamp;
  /** The node that the job's row names; null where it names none. */
  readonly node: NodeFacts | null;
  /** Calls of the organization that nodes hold, by node. */
  readonly callCounts: ReadonlyMap<string, number>;
  /** How many of one organization's calls a node runs at once. */
  readonly maxCallsPerNode: number;
  /** Whether the node that answers would take another call of the organization. */
  readonly hasRoom: boolean;
  /** Whether the job's call has begun; undefined where another node holds it, which alone knows. */
  readonly hasCallBegun: boolean | undefined;
  readonly defaultTimeoutMs: number;
  /** What whoever cancelled the job is called; undefined for those who are gone. */
  readonly cancelledByName: string | undefined;
}
