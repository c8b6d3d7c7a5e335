import type { Job } from "../job/job-state.ts";
import { quoted } from "../problem.ts";
import type { Timestamp } from "../time.ts";
import type { Explanation } from "./explanation-parts.ts";
import { duration } from "./words.ts";

/** The circumstances of a job that the answering node has parked. */
export interface ParkedCircumstances {
  readonly job: Pick<Job, "workflowName" | "versionNumber">;
  readonly nodeName: string;
  /** True when the node cannot read the job's version. False when an internal error occurred while the node continued the job. */
  readonly isVersion: boolean;
  /** The reason, as a part of the sentence. Undefined when only the node's log may show it. */
  readonly reason: string | undefined;
  readonly parkedForMs: number;
  readonly retryInMs: number;
  readonly now: Timestamp;
}

/** Explains a parked job. Another node may continue it, and this node tries again. */
export function parked(circumstances: ParkedCircumstances): Explanation {
  const { job, nodeName, isVersion, reason, parkedForMs, retryInMs, now } = circumstances;
  const what = isVersion
    ? `it cannot read version ${job.versionNumber} of the workflow ${quoted(job.workflowName)}`
    : "an internal error occurred when it continued the job";
  const because = reason === undefined ? "the node's log says why" : reason;
  const remedy = isVersion ? "update the service" : "look at the log of the node";
  return {
    state: "parked",
    sentence: `The node ${quoted(nodeName)} parked the job ${duration(parkedForMs)} ago: ${what} (${because}). It tries again in ${duration(retryInMs)}, and other nodes continue the job if they can. If no node can, the operator has to ${remedy}.`,
    facts: { since: now - parkedForMs, retryAt: now + retryInMs, operations: [] },
  };
}
