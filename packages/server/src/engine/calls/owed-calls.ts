import type { CallWork } from "../../core/definition/step-work.ts";
import type { CallEffect } from "../../core/job/fact.ts";
import type { Job } from "../../core/job/job-state.ts";
import type { PlanStep } from "../../core/plan/plan.ts";

/** The calls that a node holds, queued or begun. */
export class OwedCalls {
  /** The calls by job and branch, because all calls of a job are needed after each change of the job. */
  readonly #byJob = new Map<string, Map<string, OwedCall>>();

  ofJob(jobId: string): Iterable<OwedCall> {
    return this.#byJob.get(jobId)?.values() ?? [];
  }

  *all(): Iterable<OwedCall> {
    for (const calls of this.#byJob.values()) yield* calls.values();
  }

  find({ jobId, branch }: BranchKey): OwedCall | undefined {
    return this.#byJob.get(jobId)?.get(branch);
  }

  has(call: OwedCall): boolean {
    return this.find(keyOf(call)) === call;
  }

  add(call: OwedCall): void {
    const { jobId, branch } = keyOf(call);
    const ofJob = this.#byJob.get(jobId) ?? new Map<string, OwedCall>();
    this.#byJob.set(jobId, ofJob.set(branch, call));
  }

  /** Deletes this call only. When a newer call has taken its place, the newer call stays. */
  delete(call: OwedCall): void {
    if (!this.has(call)) return;
    const { jobId, branch } = keyOf(call);
    const ofJob = this.#byJob.get(jobId);
    ofJob?.delete(branch);
    if (ofJob?.size === 0) this.#byJob.delete(jobId);
  }
}

/** Names a branch of a job. A branch has at most one call. */
export interface BranchKey {
  readonly jobId: string;
  readonly branch: string;
}

export interface OwedCall {
  /**
   * The job without its large fields. Each commit reads the job anew, so a job with a thousand calls under way would otherwise be in memory a
   * thousand times.
   */
  readonly job: Omit<Job, "state" | "input">;
  readonly step: PlanStep;
  readonly work: CallWork;
  readonly effect: CallEffect;
  /** The lease term at the beginning of the commit that asked for the call. */
  readonly leaseTerm: number;
  /** Whether the store already has a note that the call begins. */
  readonly isNoted: boolean;
  readonly abort: AbortController;
  /** Resolves when the call has ended; undefined until it begins. */
  finished: Promise<void> | undefined;
}

function keyOf({ job, effect }: OwedCall): BranchKey {
  return { jobId: job.jobId, branch: effect.branch };
}
