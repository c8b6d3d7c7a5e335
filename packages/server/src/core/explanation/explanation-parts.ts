import type { Actor } from "../actor.ts";
import type { CallName } from "../job/call.ts";
import type { Entry, StepRun } from "../job/history.ts";
import type { Job, JobError, JobStatus, StepError } from "../job/job-state.ts";
import type { JsonValue } from "../json/json.ts";
import type { Plan } from "../plan/plan.ts";
import type { Timestamp } from "../time.ts";

/** The answer to the question why a job does not move: a short text (`sentence`), and the facts on which it is based. */
export interface Explanation {
  readonly state: ExplainedState;
  readonly sentence: string;
  readonly facts: ExplanationFacts;
}

/**
 * - `due`: the job continues as soon as a node finds it.
 * - `roomFull`: the job is due, but the node that answers has no room for another call of the job's organization.
 * - `queued`: a node holds the call and has not begun it, or holds so many calls that this call may not have begun.
 * - `calling`: the call is under way.
 * - `nodeLost`: the node that holds the call has not renewed its heartbeat in time.
 * - `retrying`: the next attempt waits for its time.
 * - `delayed`: the step sleeps.
 * - `forked`: the branches of the step run.
 * - `waitingForWorker`: the task waits in a queue.
 * - `working`: a worker holds the task.
 * - `waitingForJob`: the job that the step began is under way.
 * - `parked`: the node that answers cannot continue the job. Other nodes may.
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

/** The facts of an explanation; which of them are set depends on the state. */
export interface ExplanationFacts {
  /** The time since which the job has been in this state. */
  readonly since: Timestamp;
  readonly step?: string;
  readonly visit?: number;
  readonly attempt?: number;
  /** The number of the last attempt that the present retry policy allows. If this attempt fails too, the step gives up. */
  readonly maxAttempts?: number;
  readonly nextAttemptAt?: Timestamp;
  /** The time at which the node that parked the job tries to continue it again. */
  readonly retryAt?: Timestamp;
  /** The end of the step's sleep. */
  readonly delayEndsAt?: Timestamp;
  /** The time at which the call or the wait is given up. */
  readonly timeoutAt?: Timestamp;
  /** The time at which the whole job fails, if its definition has a timeout. */
  readonly jobTimeoutAt?: Timestamp;
  readonly lastError?: StepError;
  /** The branch that has been open longest among those that wait for events, a worker, a child job, the next attempt or the end of a sleep. */
  readonly branch?: string;
  /** The step in which that branch is. `step` is the step that has the branches. */
  readonly branchStep?: string;
  readonly branchVisit?: number;
  /** The number of branches of the step, and how many of them are open, have succeeded and have failed. */
  readonly branchCount?: number;
  readonly openCount?: number;
  readonly succeededCount?: number;
  readonly failedCount?: number;
  readonly eventIds?: readonly string[];
  readonly missingEventIds?: readonly string[];
  /** The number of missing events that the wait still needs. */
  readonly missingCount?: number;
  /** The unmatched events whose id differs only slightly from a missing id. */
  readonly misspelledEvents?: readonly MisspelledEvent[];
  /** The ids of the events that are kept for other waits. */
  readonly bufferedEventIds?: readonly string[];
  readonly node?: NodeFacts;
  /** The queue in which the task waits, or waited until a worker took it. */
  readonly queue?: QueueFacts;
  /** The worker that holds the task. */
  readonly worker?: WorkerFacts;
  /** The job that the step began. */
  readonly childJob?: ChildFacts;
  /** The number of the organization's calls that nodes hold. If a node holds the job's call, this is the number on that node. */
  readonly callCount?: number;
  readonly maxCallsPerNode?: number;
  readonly error?: JobError;
  readonly cancelledBy?: NamedActor;
  /** The operations that can help now, by name. */
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
  /** Undefined for a node that the store has forgotten. */
  readonly name?: string;
  readonly isAlive: boolean;
  readonly heartbeatAt?: Timestamp;
}

export interface QueueFacts {
  readonly name: string;
  readonly waitingCount: number;
  /** The time at which a worker last asked for tasks; undefined when none has asked for at least a day. */
  readonly polledAt?: Timestamp;
  readonly workerCount: number;
  /** The time at which the queue was paused. Since then, no task of it has been handed out. */
  readonly pausedAt?: Timestamp;
}

export interface WorkerFacts {
  readonly name: string;
  readonly takenAt: Timestamp;
  /** The time from which another worker can get the task if this worker sends no heartbeat before then. */
  readonly leaseUntil: Timestamp;
  /** The progress that the worker reported last. */
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
  /** The job's history, oldest entry first: all of it, or its newest part. */
  readonly entries: readonly Entry<unknown>[];
  readonly now: Timestamp;
  /** The call that `node`, `task`, `child` and `hasCallBegun` describe. The job owes it or has it under way. Null when there is no such call. */
  readonly call: CallName | null;
  /** The node that holds the call; null when no node does. */
  readonly node: NodeFacts | null;
  /** If the call is a task: its queue, and the worker that holds it. Null for any other call. */
  readonly task: { readonly queue: QueueFacts; readonly worker: WorkerFacts | null } | null;
  /** The child job that was made for the call. Null if no job was made for it, or if the caller may not see the job. */
  readonly child: ChildFacts | null;
  /** The number of the organization's calls that each node holds, by the node's id. */
  readonly callCounts: ReadonlyMap<string, number>;
  /** The largest number of calls that a node runs at the same time for one organization. */
  readonly maxCallsPerNode: number;
  /** Whether the answering node would take another call of the organization. */
  readonly hasRoom: boolean;
  /** Whether the call has begun. Undefined when the answering node does not hold the call, because only the node that holds it knows. */
  readonly hasCallBegun: boolean | undefined;
  readonly defaultTimeoutMs: number;
  /** The name of the user or API token that cancelled the job. Undefined when neither did, or when the user or token does not exist any more. */
  readonly cancelledByName: string | undefined;
}
