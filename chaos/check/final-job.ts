import type { JobKey, JobStatus } from "../operation.ts";
import type { Entry, EventAddress } from "./history-automaton.ts";

/** One job as the service shows it at the end of a campaign, from GetJob, ListJobs, GetJobHistory and ListJobEvents. */
export interface FinalJob extends JobKey {
  readonly workflowId: string;
  readonly status: JobStatus;
  /** The status in the list of jobs. */
  readonly listedStatus: JobStatus;
  readonly input: unknown;
  readonly steps: readonly FinalStep[];
  /** Present while the job waits. */
  readonly missingEventIds?: readonly string[];
  readonly entries: readonly Entry[];
  readonly events: readonly FinalEvent[];
  /** The step of another job that began this job, if there is one. */
  readonly parent?: FinalParent;
}

export interface FinalParent {
  readonly jobId: string;
  readonly step: string;
  /** The path of the branch, which is empty for the main line. */
  readonly branch: string;
  readonly visit: number;
}

export interface FinalStep {
  readonly name: string;
  /** The path of the branch, which is empty for the main line. */
  readonly branch: string;
  readonly visit: number;
  readonly status: "running" | "success" | "failure" | "successful_but_incomplete";
}

export interface FinalEvent {
  readonly eventNumber: number;
  readonly eventId: string;
  /** The wait for which the event was sent, if it was sent for a single wait. */
  readonly address?: EventAddress;
  readonly outcome: string;
  /** The nonce in the payload; undefined when the event does not come from a client of the campaign. */
  readonly nonce: string | undefined;
}
