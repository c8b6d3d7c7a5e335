import type { Actor } from "../actor.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Timestamp } from "../time.ts";

/** One execution of one version with one input. It has the fields of the job's row. */
export interface Job {
  readonly organizationId: string;
  readonly jobId: string;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly versionId: string;
  readonly versionNumber: number;
  /** The tag by which the version was chosen, if it was chosen by a tag. */
  readonly tag: string | null;
  readonly input: JsonObject;
  readonly submittedBy: Actor;
  /** The step of another job that made this job; null for a job that somebody submitted. */
  readonly parent: ParentStep | null;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly updatedAt: Timestamp;
  readonly finishedAt: Timestamp | null;
  /** The number of the newest history entry. Entries are numbered from 1 without gaps. */
  readonly sequence: number;
  /** The number of calls so far. Each call takes it as its epoch, so no two calls of a job have the same epoch. */
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

/** Each status has exactly the fields that it needs. */
export type JobState = PendingState | RunningState | SucceededState | FailedState | CancelledState;
export type JobStatus = JobState["status"];
/** A state from which a job may continue, perhaps only by a resume. */
export type UnfinishedState = Exclude<JobState, SucceededState>;

/** The job was submitted or resumed, and does not run yet. A node begins or continues it when the node has room. */
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
  /** The time at which the whole job fails, whatever its steps do. Left out when the definition has no timeout. */
  readonly timeoutAt?: Timestamp;
}

export interface SucceededState {
  readonly status: "SUCCEEDED";
  /** The number of visits of each step, for a job with more step runs than one answer shows. */
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
  /** A cursor's `stand` is null when the job was cancelled before its first step. */
  readonly cursors: Cursors<ResumePoint | null>;
}

/** The position of each branch of a job. The main line comes first. It is there as long as the job may continue. */
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
  /** The properties that a later step may still take. Each has its value from the latest output that had it. */
  readonly properties: JsonObject;
  /** The latest output. It is kept only when a step that takes over after a failure may receive the whole output. */
  readonly lastOutput?: JsonValue;
  /**
   * Properties that a later step must not take from the job's input, from an item, or from the branches around this one. A wait step declares them,
   * but no event brought them in the latest visit of the wait step. Left out while there are none.
   */
  readonly absentProperties?: readonly string[];
  /** Values that expressions of later steps may read, by slot (`plan/slots.ts`). Left out while there are none. */
  readonly slots?: JsonObject;
}

/** The past of all branches of a job, as far as the job needs it to continue. */
export interface Progress {
  /** The number of visits so far, over all steps and branches. */
  readonly stepRunCount: number;
  /** The number of visits in branches, by step. The visits on the main line are in the main line's carried values. Left out while there are none. */
  readonly branchVisits?: Readonly<Record<string, number>>;
  /** How many row numbers were given to the results of branches so far. Left out while there are none. */
  readonly resultNumberCount?: number;
  /** The events that are kept for any wait and were not consumed: event id → event number. */
  readonly bufferedEvents: Readonly<Record<string, number>>;
  /** The events that are kept for one visit of one step and were not consumed. Left out while there are none. */
  readonly addressedEvents?: readonly AddressedEvent[];
  /** The numbers of kept events that came without a payload. Nothing need be read for them. The other kept events may have a payload. */
  readonly bareEvents?: readonly number[];
  /** The sending times of those kept events that expressions may read, by event number. Left out while there are none. */
  readonly sentTimes?: Readonly<Record<string, Timestamp>>;
  /** The epoch of the parent's call that waits for this job. Left out when no call of a parent waits. */
  readonly awaitedBy?: number;
  /** The number of all events. A new event gets its number from it. */
  readonly eventCount: number;
  /** The number of unmatched events. They have a bound of their own. Left out while there are none. */
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
  /**
   * Set when the event was sent for any wait, and this visit claimed the event. If the wait ends without the event, other waits may take the event
   * again.
   */
  readonly isClaimed?: true;
}

export interface StepPosition {
  readonly name: string;
  /** Which visit of the step this is, counted from 1 in its branch. */
  readonly visit: number;
  /** The latest attempt in this visit, counted from 1; 0 when the first attempt was handed back before it began. A resume continues the count. */
  readonly attempt: number;
}

/** The place where a branch stopped and from which a resume continues it: in a step, or on the way to one. */
export type ResumePoint =
  | (StepPosition & {
      readonly phase: "in";
      readonly input: JsonValue;
      /** The start of the visit, which a resume does not change. States written by an earlier release do not have it. */
      readonly startedAt?: Timestamp;
      /** The end of the sleep, if the step slept. A resume does not change it. */
      readonly delayEndsAt?: Timestamp;
      /**
       * Set when the step's `input` template failed. The field `input` then does not have the value that the step receives, so a resume evaluates the
       * template again.
       */
      readonly isInputMissing?: true;
    })
  | Omit<NextStep, "wakeAt">
  | ForkedStep;

export type CurrentStep = CallingStep | RetryingStep | WaitingStep | DelayedStep | NextStep | ForkedStep | StoppedStep;

export interface StartedStep extends StepPosition {
  readonly input: JsonValue;
  /** The number of failed attempts since the step was entered or the job was resumed. The retry policy counts these. */
  readonly failedAttempts: number;
  /**
   * The number of attempts that were lost with their node or worker. They have a bound of their own (`interruptions.ts`), so a step that crashes its
   * node fails in the end.
   */
  readonly interruptions: number;
  /** The start of this visit, which a resume does not change. States written by an earlier release do not have it. Then only the history has it. */
  readonly startedAt?: Timestamp;
}

/** A node, a worker or a child job carries out the call, under the call's epoch. */
export interface CallingStep extends StartedStep {
  readonly phase: "calling";
  readonly epoch: number;
}

/** The next attempt is due at `wakeAt`. */
export interface RetryingStep extends StartedStep {
  readonly phase: "retrying";
  readonly wakeAt: Timestamp;
}

/**
 * The step waits for events. `wakeAt` is the time of its timeout, or an earlier time when enough events are here and the next commit completes the
 * wait.
 */
export interface WaitingStep extends StartedStep {
  readonly phase: "waiting";
  readonly since: Timestamp;
  readonly missingEventIds: readonly string[];
  /** The events for which this visit waits. Left out when no expression gives an id, because the version then names all of them. */
  readonly awaited?: AwaitedEvents;
  readonly wakeAt: Timestamp | null;
}

/** Sleeps until `wakeAt`. */
export interface DelayedStep extends StartedStep {
  readonly phase: "delayed";
  readonly wakeAt: Timestamp;
}

/** The events for which one visit of a wait step waits, and how many of them it needs. */
export interface AwaitedEvents {
  readonly eventIds: readonly string[];
  readonly requiredCount: number;
}

/** The commit has done enough work, or has not read payloads that this step needs. The branch continues with this step in the next commit. */
export interface NextStep {
  readonly phase: "next";
  readonly name: string;
  /** The latest output before this step. Left out when there is none yet, and after a failure when no step needs the whole output. */
  readonly previousOutput?: JsonValue;
  readonly wakeAt: Timestamp;
}

/** The step's branches run. If the job ended early, a resume continues the branches that have neither an output nor a collected failure. */
export interface ForkedStep extends StepPosition {
  readonly phase: "forked";
  readonly input: JsonValue;
  readonly startedAt?: Timestamp;
  /** The items of a forEach. Left out when the branches have names. */
  readonly items?: readonly JsonValue[];
  readonly branchCount: number;
  /** The number of branches that have begun. Branches begin in the order of the list. */
  readonly begunCount: number;
  readonly succeededCount: number;
  /** The number of branches that have failed without failing the step. */
  readonly failedCount: number;
  /**
   * The outputs of the branches that have succeeded, by the branch's key. Empty when the step's result needs no outputs, or when they have rows of
   * their own.
   */
  readonly results: JsonObject;
  /**
   * The failures of branches, by the branch's key, when failures are collected. Left out while there are none, or when they have rows of their own.
   */
  readonly errors?: Readonly<Record<string, BranchError>>;
  /** The total length of the outputs and failures as JSON, whether they are in this state or in rows of their own. */
  readonly resultBytes: number;
  /**
   * The number of the first branch's result, when results have rows of their own. Left out while the results are small, because they are then in this
   * state.
   */
  readonly firstResultNumber?: number;
  /**
   * Set when there was room for more branches, but the commit had reached its limit of work. Also set when all branches are over, and the next commit
   * reads their results. Left out otherwise.
   */
  readonly wakeAt?: Timestamp;
}

/**
 * The branch, or a branch around it, has failed, and it is not known yet whether the job continues without the failed branch. If the job ends early,
 * a resume continues from this point.
 */
export interface StoppedStep {
  readonly phase: "stopped";
  readonly name: string;
  readonly point: ResumePoint;
  /**
   * The time from which the branch may continue. Set when the job was resumed, but the commit had reached its limit of work or had not read the
   * branch's values. Left out otherwise.
   */
  readonly wakeAt?: Timestamp;
}

/** Codes never change, because programs depend on them. An executor adds the name of the error on the called side as `type`. */
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

/** The `type` of the error when a job has used up its whole time. The code is `Timeout`, as it is when a step has used up its own time. */
export const jobTimeoutType = "JobTimeout";

export interface StepError {
  readonly code: JobErrorCode;
  readonly message: string;
  /**
   * The name that the called side gave its error, such as the exception type of a function. For a child job, the type of its error, or the code if
   * there is no type. `JobTimeout` when the job has used up its whole time.
   */
  readonly type?: string;
  /** The failure in a branch, or in a child job, that made the step fail. */
  readonly cause?: BranchError;
}

/** The failure of a step in a branch, or in a child job. */
export interface BranchError extends Omit<StepError, "cause"> {
  /** The child job. Left out when the step is in this job. */
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

/** The time at which a timer must end the job. Null for a job that has no timeout or does not run. */
export function timeoutAtOf(state: JobState): Timestamp | null {
  return state.status === "RUNNING" ? (state.timeoutAt ?? null) : null;
}

/** The time at which a timer must move the job. Null when only an event or the outcome of a call can move it, and when the job has ended. */
export function wakeAtOf(state: JobState): Timestamp | null {
  if (state.status === "PENDING") return state.wakeAt;
  let earliest: Timestamp | null = null;
  for (const stand of standsOf(state)) {
    const wakeAt = "wakeAt" in stand ? stand.wakeAt : undefined;
    if (wakeAt != null && (earliest === null || wakeAt < earliest)) earliest = wakeAt;
  }
  return earliest;
}

/** The ids of the events that the job waits for and that have not come. Null when no branch is in a wait. */
export function awaitedEventIds(state: JobState): readonly string[] | null {
  const waits = standsOf(state).filter((stand) => stand.phase === "waiting");
  return waits.length === 0 ? null : [...new Set(waits.flatMap(({ missingEventIds }) => missingEventIds))];
}

/** The positions of the branches of a running job; empty for any other job. */
export function standsOf(state: JobState): readonly CurrentStep[] {
  return state.status === "RUNNING" ? state.cursors.map(({ stand }) => stand) : [];
}

/** The step in which the main line of the job is, or in which it ended. Null before the first step. */
export function mainStand(state: UnfinishedState): CurrentStep | ResumePoint | null {
  return state.cursors[0].stand;
}
