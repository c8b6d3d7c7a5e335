import type { JsonObject, JsonValue } from "../json/json.ts";

/** Milliseconds since 1970 by the database's clock. Comes in with the facts: `core` reads no clock. */
export type Timestamp = number;

/** Who did something: a user, an API token, or the service itself. */
export interface Actor {
  readonly type: "user" | "apiToken" | "service";
  readonly id: string;
}

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
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly updatedAt: Timestamp;
  readonly finishedAt: Timestamp | null;
  /** Number of the last history entry. Entries count from 1 without gaps. */
  readonly sequence: number;
  /** Counts acquisitions: raised whenever a call is handed to a node. A write with an older epoch is dropped. */
  readonly leaseEpoch: number;
  /** The node that carries out the job's call; null while none is under way. */
  readonly nodeId: string | null;
  readonly state: JobState;
}

/** Each status carries exactly its fields. */
export type JobState = PendingState | RunningState | SucceededState | FailedState | CancelledState;
export type JobStatus = JobState["status"];

/** Accepted, and not begun: a node takes it when it has room. */
export interface PendingState {
  readonly status: "PENDING";
  readonly progress: Progress;
  /** Where to go on; null starts at the first step. */
  readonly resumeAt: ResumePoint | null;
  readonly wakeAt: Timestamp;
}

export interface RunningState {
  readonly status: "RUNNING";
  readonly progress: Progress;
  readonly step: CurrentStep;
}

export interface SucceededState {
  readonly status: "SUCCEEDED";
  /** Visits by step, of a job with more step runs than one answer shows. */
  readonly visits?: Readonly<Record<string, number>>;
}

export interface FailedState {
  readonly status: "FAILED";
  readonly progress: Progress;
  readonly resumeAt: ResumePoint;
  readonly error: JobError;
}

export interface CancelledState {
  readonly status: "CANCELLED";
  readonly progress: Progress;
  /** Null when the job was cancelled before its first step. */
  readonly resumeAt: ResumePoint | null;
}

/** What a job that may still go on must remember of its past. */
export interface Progress {
  /** Visits of steps so far, over all steps. */
  readonly stepRunCount: number;
  readonly visits: Readonly<Record<string, number>>;
  /** Of each property that a later step may still take: its value in the latest output that had it. */
  readonly properties: JsonObject;
  /** The latest output, kept only where a step after a failure may receive it whole. */
  readonly lastOutput?: JsonValue;
  /**
   * Properties that the job's input has and that a later step must not take from there: a wait step gives them, and in its latest visit
   * no event brought them. Left out while there are none.
   */
  readonly absentProperties?: readonly string[];
  /** Events kept and not consumed, of the ids that this version lists, for whichever wait comes first: event id → event number. */
  readonly bufferedEvents: Readonly<Record<string, number>>;
  /** Events kept and not consumed that were sent for one visit of one step. Left out while there are none. */
  readonly addressedEvents?: readonly AddressedEvent[];
  /** Numbers of the kept events that came without a payload, so that nothing of them need be read. Others may have one. */
  readonly bareEvents?: readonly number[];
  /** All events, which are numbered by it. */
  readonly eventCount: number;
  /** How many of them no step of the version lists. They have a bound of their own. Left out while there are none. */
  readonly unmatchedCount?: number;
}

/** One visit of a wait step. */
export interface WaitVisit {
  readonly step: string;
  readonly visit: number;
}

export interface AddressedEvent extends WaitVisit {
  readonly eventId: string;
  readonly eventNumber: number;
}

export interface StepPosition {
  readonly name: string;
  /** The n-th time that the job enters this step, from 1. */
  readonly visit: number;
  /** The latest try in this visit, from 1; it goes on counting when a job is resumed. */
  readonly attempt: number;
}

/** Where a job stood when it ended early: in a step, or on its way to one. */
export type ResumePoint =
  | (StepPosition & { readonly phase: "in"; readonly input: JsonValue })
  | Omit<NextStep, "wakeAt">;

export type CurrentStep = CallingStep | RetryingStep | WaitingStep | NextStep;

export interface StartedStep extends StepPosition {
  readonly input: JsonValue;
  /** Attempts that failed since the step was entered or the job was resumed; what the retry policy counts. */
  readonly failedAttempts: number;
  /** Attempts that were lost with their node. Bounded apart from the policy, so that a step that kills its node ends. */
  readonly interruptions: number;
  /** When this visit began. Left out after a resume, and by earlier releases: then only the history tells. */
  readonly startedAt?: Timestamp;
}

/** A node carries out the call, under the job's current lease epoch. */
export interface CallingStep extends StartedStep {
  readonly phase: "calling";
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
  readonly wakeAt: Timestamp | null;
}

/** The bound of steps in one commit was reached: the job goes on with this step in the next one. */
export interface NextStep {
  readonly phase: "next";
  readonly name: string;
  /** The latest output on this job's way; left out before the first one. */
  readonly previousOutput?: JsonValue;
  readonly wakeAt: Timestamp;
}

/** Codes are stable: programs branch on them. An executor adds the error types of what it called as `cause`. */
export type JobErrorCode =
  | "InputMismatch"
  | "OutputMismatch"
  | "ExecutorError"
  | "Timeout"
  | "Interrupted"
  | "OutputTooLarge"
  | "StepLimitExceeded"
  | "Cancelled";

export interface StepError {
  readonly code: JobErrorCode;
  readonly message: string;
  /** What the called side named its error, for example the function's exception type. */
  readonly type?: string;
}

export interface JobError extends StepError {
  readonly step: string;
  readonly attempt: number;
}

export function isTerminal(status: JobStatus): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELLED";
}

/** When a timer must look at the job again; null when only a call's outcome or an event can move it. */
export function wakeAtOf(state: JobState): Timestamp | null {
  if (state.status === "PENDING") return state.wakeAt;
  if (state.status !== "RUNNING" || state.step.phase === "calling") return null;
  return state.step.wakeAt;
}

/** The events that the job waits for and does not have; null when it waits for none. */
export function awaitedEventIds(state: JobState): readonly string[] | null {
  return state.status === "RUNNING" && state.step.phase === "waiting" ? state.step.missingEventIds : null;
}
