import type { CallName } from "../job/call.ts";
import type { Entry, StepRun } from "../job/history.ts";
import type { Actor, Job, JobError, JobStatus, StepError, Timestamp } from "../job/job-state.ts";
import type { JsonValue } from "../json/json.ts";
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
 * - `delayed`: its step sleeps.
 * - `forked`: the branches of its step run.
 * - `waitingForWorker`: its task waits in a queue.
 * - `working`: a worker holds its task.
 * - `waitingForJob`: the job that its step began is under way.
 * - `parked`: the node that answers cannot go on with it; others may.
 */
export const explainedStates = [
  "due",
  "roomFull",
  "queued",
  "calling",
  "nodeLost",
  "retrying",
  "delayed",
  "forked",
  "waitingForWorker",
  "working",
  "waitingForJob",
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
  /** When the step has slept long enough. */
  readonly delayEndsAt?: Timestamp;
  /** When the call or the wait is given up. */
  readonly timeoutAt?: Timestamp;
  /** When the whole job fails, of a definition with a timeout. */
  readonly jobTimeoutAt?: Timestamp;
  readonly lastError?: StepError;
  /** The branch that has been open for longest, and for which events or a worker are missing, or an attempt or the end of a sleep is to come. */
  readonly branch?: string;
  /** Where that branch stands. `step` is the step that has the branches. */
  readonly branchStep?: string;
  readonly branchVisit?: number;
  /** The branches of a step, and how many of them are open, succeeded and failed. */
  readonly branchCount?: number;
  readonly openCount?: number;
  readonly succeededCount?: number;
  readonly failedCount?: number;
  readonly eventIds?: readonly string[];
  readonly missingEventIds?: readonly string[];
  /** How many of the missing ones are enough. */
  readonly missingCount?: number;
  /** Of the unmatched events those whose id is nearly one that is missing. */
  readonly misspelledEvents?: readonly MisspelledEvent[];
  /** Events that are kept for another step. */
  readonly bufferedEventIds?: readonly string[];
  readonly node?: NodeFacts;
  /** Where the task waits, or waited until a worker took it. */
  readonly queue?: QueueFacts;
  /** The worker that holds the task. */
  readonly worker?: WorkerFacts;
  /** The job that the step began. */
  readonly childJob?: ChildFacts;
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

export interface QueueFacts {
  readonly name: string;
  readonly waitingCount: number;
  /** When a worker asked for tasks last; undefined when none ever did. */
  readonly polledAt?: Timestamp;
  readonly workerCount: number;
  /** The time since which nothing of it is handed out. */
  readonly pausedAt?: Timestamp;
}

export interface WorkerFacts {
  readonly name: string;
  readonly takenAt: Timestamp;
  /** When another worker gets the task, unless this one is heard of until then. */
  readonly leaseUntil: Timestamp;
  /** The last that it said of how far it has come. */
  readonly progress?: JsonValue;
}

export interface ChildFacts {
  readonly jobId: string;
  readonly workflowName: string;
  readonly status: JobStatus;
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
  /** The call that the next facts are about, one of those that the job owes or has under way; null where there is none. */
  readonly call: CallName | null;
  /** The node that holds the call; null where none does. */
  readonly node: NodeFacts | null;
  /** The queue of a call that is a task, and the worker that holds it; null for any other. */
  readonly task: { readonly queue: QueueFacts; readonly worker: WorkerFacts | null } | null;
  /** The job that was made for the call; null for any other call. */
  readonly child: ChildFacts | null;
  /** Calls of the organization that nodes hold, by node. */
  readonly callCounts: ReadonlyMap<string, number>;
  /** How many of one organization's calls a node runs at once. */
  readonly maxCallsPerNode: number;
  /** Whether the node that answers would take another call of the organization. */
  readonly hasRoom: boolean;
  /** Whether the call has begun; undefined where another node holds it, which alone knows. */
  readonly hasCallBegun: boolean | undefined;
  readonly defaultTimeoutMs: number;
  /** What whoever cancelled the job is called; undefined for those who are gone. */
  readonly cancelledByName: string | undefined;
}
