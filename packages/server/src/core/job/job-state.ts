import type { Actor } from "../actor.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Timestamp } from "../time.ts";

/** One execution of one version with one input, as its row holds it. */
export interface Job {
  readonly organizationId: string;
  readonly jobId: string;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly versionId: string;
  readonly versionNumber: number;
  /** The tag by which the version was chosen, if one was. */
  readonly tag: string | null;
  readonly input: JsonObject;
  readonly submittedBy: Actor;
  /** The step of another job that made this one; null for a job that somebody submitted. */
  readonly parent: ParentStep | null;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly updatedAt: Timestamp;
  readonly finishedAt: Timestamp | null;
  /** Number of the last history entry. Entries count from 1 without gaps. */
  readonly sequence: number;
  /** The number of calls so far. Each call takes its epoch from it, so no two calls of a job have the same one. */
  readonly leaseEpoch: number;
  readonly state: JobState;
}

/** One visit of a step that makes a child job, and the place of the child in the tree of jobs. */
export interface ParentStep extends WaitVisit {
  readonly jobId: string;
  /** The job at the top of the tree, which has no parent. */
  readonly rootJobId: string;
  /** 1 for a child of the root. */
  readonly depth: number;
}

/** Each status carries exactly its fields. */
export type JobState = PendingState | RunningState | SucceededState | FailedState | CancelledState;
export type JobStatus = JobState["status"];
/** A state from which a job may go on, perhaps by a resume. */
export type UnfinishedState = Exclude<JobState, SucceededState>;

/** Accepted and not begun yet: a node takes the job when it has room. */
export interface PendingState {
  readonly status: "PENDING";
  readonly progress: Progress;
  /** A cursor's `stand` is null before the first step. */
  readonly cursors: Cursors<ResumePoint | null>;
  readonly wakeAt: Timestamp;
}

export interface RunningState {
  readonly status: "RUNNING";
  readonly progress: Progress;
  readonly cursors: Cursors<CurrentStep>;
  /** The time at which the whole job fails, whatever its step does. Left out where the definition has no timeout. */
  readonly timeoutAt?: Timestamp;
}

export interface SucceededState {
  readonly status: "SUCCEEDED";
  /** Visits by step, for a job with more step runs than one answer shows. */
  readonly visits?: Readonly<Record<string, number>>;
}

export interface FailedState {
  readonly status: "FAILED";
  readonly progress: Progress;
  readonly cursors: Cursors<ResumePoint>;
  readonly error: JobError;
}

export interface CancelledState {
  readonly status: "CANCELLED";
  readonly progress: Progress;
  /** Null when the job was cancelled before its first step. */
  readonly cursors: Cursors<ResumePoint | null>;
}

/** The position of each branch of a job. The main line comes first, and is there as long as the job may go on. */
export type Cursors<Stand> = readonly [Cursor<Stand>, ...Cursor<Stand>[]];

export interface Cursor<Stand> {
  /** The path of the branch; empty for the main line. */
  readonly branch: string;
  readonly carried: Carried;
  readonly stand: Stand;
}

/** The values that a branch keeps from its past steps for later ones. */
export interface Carried {
  readonly visits: Readonly<Record<string, number>>;
  /** The properties that a later step may still take, each with its value in the latest output that had it. */
  readonly properties: JsonObject;
  /** The latest output, kept only where a step after a failure may receive it whole. */
  readonly lastOutput?: JsonValue;
  /**
   * Properties of the job's input that a later step must not take from there: a wait step declares them, and in its latest visit no event brought
   * them. Left out while there are none.
   */
  readonly absentProperties?: readonly string[];
  /** Values that expressions of later steps may read, by slot (`plan/slots.ts`). Left out while there are none. */
  readonly slots?: JsonObject;
}

/** The part of a job's past that it must remember as long as it may go on, in whichever branch it happened. */
export interface Progress {
  /** Visits of steps so far, over all steps and branches. */
  readonly stepRunCount: number;
  /** Visits in branches, by step. Those of the main line are in its carried values. Left out while there are none. */
  readonly branchVisits?: Readonly<Record<string, number>>;
  /** The count of numbers given to branch results that have rows of their own. Left out while there are none. */
  readonly resultNumberCount?: number;
  /** Events kept for any wait and not consumed, with ids that this version lists: event id → event number. */
  readonly bufferedEvents: Readonly<Record<string, number>>;
  /** Events kept for one visit of one step and not consumed. Left out while there are none. */
  readonly addressedEvents?: readonly AddressedEvent[];
  /** Numbers of kept events that came without a payload, so that nothing need be read for them. The other kept events may have one. */
  readonly bareEvents?: readonly number[];
  /** The times at which kept events were sent, by event number, for those ids whose time an expression reads. Left out while there are none. */
  readonly sentTimes?: Readonly<Record<string, Timestamp>>;
  /** The epoch of the parent's call that waits for this job. Left out where no parent does. */
  readonly awaitedBy?: number;
  /** The number of all events; it also numbers them. */
  readonly eventCount: number;
  /** The number of events whose id no step of the version lists. They have a bound of their own. Left out while there are none. */
  readonly unmatchedCount?: number;
}

/** One visit of a step. */
export interface WaitVisit {
  /** Left out for the main line. */
  readonly branch?: string;
  readonly step: string;
  readonly visit: number;
}

export interface AddressedEvent extends WaitVisit {
  readonly eventId: string;
  readonly eventNumber: number;
  /** The event was sent for any wait, and this one had waited longest. It is available to others again if the wait ends without it. */
  readonly isClaimed?: true;
}

export interface StepPosition {
  readonly name: string;
  /** The n-th time that the job enters this step, from 1. */
  readonly visit: number;
  /** The latest attempt in this visit, from 1; counting continues when a job is resumed. */
  readonly attempt: number;
}

/** The place where a job ended early: in a step, or on its way to one. */
export type ResumePoint =
  | (StepPosition & {
      readonly phase: "in";
      readonly input: JsonValue;
      /** The start of the visit, which a resume does not change. Left out in states written by an earlier release. */
      readonly startedAt?: Timestamp;
      /** The end of the sleep of a step that slept; a resume does not move it. */
      readonly delayEndsAt?: Timestamp;
      /** The step's `input` template failed. It is evaluated again, because `input` is not the value that the step receives. */
      readonly isInputMissing?: true;
    })
  | Omit<NextStep, "wakeAt">
  | ForkedStep;

export type CurrentStep = CallingStep | RetryingStep | WaitingStep | DelayedStep | NextStep | ForkedStep | StoppedStep;

export interface StartedStep extends StepPosition {
  readonly input: JsonValue;
  /** Failed attempts since the step was entered or the job was resumed; the retry policy counts these. */
  readonly failedAttempts: number;
  /** Attempts that were lost with their node. They have a bound of their own, so that a step that crashes its node ends. */
  readonly interruptions: number;
  /** The start of this visit. Left out after a resume, and by earlier releases; then only the history has it. */
  readonly startedAt?: Timestamp;
}

/** A node carries out the call, under its epoch. */
export interface CallingStep extends StartedStep {
  readonly phase: "calling";
  readonly epoch: number;
}

/** The next attempt is due at `wakeAt`. */
export interface RetryingStep extends StartedStep {
  readonly phase: "retrying";
  readonly wakeAt: Timestamp;
}

/** Waits for events; `wakeAt` is its timeout. */
export interface WaitingStep extends StartedStep {
  readonly phase: "waiting";
  readonly since: Timestamp;
  readonly missingEventIds: readonly string[];
  /** The events that this visit waits for. Left out where no expression gives an id, because the version then names them all. */
  readonly awaited?: AwaitedEvents;
  readonly wakeAt: Timestamp | null;
}

/** Sleeps until `wakeAt`. */
export interface DelayedStep extends StartedStep {
  readonly phase: "delayed";
  readonly wakeAt: Timestamp;
}

/** The events of one visit of a wait. */
export interface AwaitedEvents {
  readonly eventIds: readonly string[];
  readonly requiredCount: number;
}

/** This commit has reached its bound of steps, and the job goes on with this step in the next one. */
export interface NextStep {
  readonly phase: "next";
  readonly name: string;
  /** The latest output on this job's way; left out before the first one. */
  readonly previousOutput?: JsonValue;
  readonly wakeAt: Timestamp;
}

/** The branches of the step run. In a job that ended early, a resume goes on with the branches that did not succeed. */
export interface ForkedStep extends StepPosition {
  readonly phase: "forked";
  readonly input: JsonValue;
  readonly startedAt?: Timestamp;
  /** The items of a forEach; left out where the branches have names. */
  readonly items?: readonly JsonValue[];
  readonly branchCount: number;
  /** The number of branches that have begun: the first ones of the list. */
  readonly begunCount: number;
  readonly succeededCount: number;
  /** The number of branches that have failed without failing the step. */
  readonly failedCount: number;
  /** The output of each branch that has succeeded, by its key, where the step's result needs it. */
  readonly results: JsonObject;
  /** The failures that are collected, by the key of the branch. Left out while there are none. */
  readonly errors?: Readonly<Record<string, BranchError>>;
  /** The length of `results` and `errors` together, as JSON. */
  readonly resultBytes: number;
  /** The number of the first branch's result, where results have rows of their own. Left out while there are few results, which stand here. */
  readonly firstResultNumber?: number;
  /** Set when there is room for more branches but the commit had done enough. Left out otherwise. */
  readonly wakeAt?: Timestamp;
}

/**
 * The branch, or its fork inside the branch, has failed, and it is not known yet whether the job goes on without it. A job that ends early keeps the
 * point for a resume.
 */
export interface StoppedStep {
  readonly phase: "stopped";
  readonly name: string;
  readonly point: ResumePoint;
  /** Set when the job was resumed but the commit had done enough: the branch then goes on at this time. Left out otherwise. */
  readonly wakeAt?: Timestamp;
}

/** Codes never change, because programs depend on them. An executor adds the error types of the called side as `cause`. */
export type JobErrorCode =
  | "InputMismatch"
  | "ExpressionFailed"
  | "OutputMismatch"
  | "ExecutorError"
  | "Timeout"
  | "Interrupted"
  | "OutputTooLarge"
  | "StepLimitExceeded"
  | "BranchFailed"
  | "ItemFailed"
  | "TooManyFailures"
  | "ValueLimitExceeded"
  | "ChildNotStarted"
  | "ChildFailed"
  | "TooManyChildren"
  | "Cancelled";

/** The `type` of the error of a job that ran out of its whole time, which distinguishes it from a step's own `Timeout`. */
export const jobTimeoutType = "JobTimeout";

export interface StepError {
  readonly code: JobErrorCode;
  readonly message: string;
  /** The name that the called side gave its error, such as the exception type of a function; or `JobTimeout`. */
  readonly type?: string;
  /** The failure in a branch, or in a child job, that failed the step. */
  readonly cause?: BranchError;
}

/** The failure of a step in a branch, or in a child job. */
export interface BranchError extends Omit<StepError, "cause"> {
  /** The child job; left out where the step is in the job itself. */
  readonly jobId?: string;
  readonly step: string;
  /** Left out for the main line. */
  readonly branch?: string;
}

export interface JobError extends StepError {
  readonly step: string;
  readonly attempt: number;
  /** Left out for the main line. */
  readonly branch?: string;
}

export function isTerminal(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

/** The time at which a timer must end the job; null for a job without a timeout, or one that does not run. */
export function timeoutAtOf(state: JobState): Timestamp | null {
  return state.status === "RUNNING" ? (state.timeoutAt ?? null) : null;
}

/** The time at which a timer must move the job's step; null when only a call's outcome or an event can move it. */
export function wakeAtOf(state: JobState): Timestamp | null {
  if (state.status === "PENDING") return state.wakeAt;
  let earliest: Timestamp | null = null;
  for (const stand of standsOf(state)) {
    const wakeAt = "wakeAt" in stand ? stand.wakeAt : undefined;
    if (wakeAt != null && (earliest === null || wakeAt < earliest)) earliest = wakeAt;
  }
  return earliest;
}

/** The events that the job waits for and lacks; null when it waits for none. */
export function awaitedEventIds(state: JobState): readonly string[] | null {
  const waits = standsOf(state).filter((stand) => stand.phase === "waiting");
  return waits.length === 0 ? null : [...new Set(waits.flatMap(({ missingEventIds }) => missingEventIds))];
}

/** The positions of the branches of a running job; empty for any other job. */
export function standsOf(state: JobState): readonly CurrentStep[] {
  return state.status === "RUNNING" ? state.cursors.map(({ stand }) => stand) : [];
}

/** The step in which the main line of the job is, or ended; null before its first step. */
export function mainStand(state: UnfinishedState): CurrentStep | ResumePoint | null {
  return state.cursors[0].stand;
}
