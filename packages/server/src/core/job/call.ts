import { mainBranch } from "../branch-path.ts";
import type { CallingStep, JobState } from "./job-state.ts";

/**
 * Names one call that a job owes or has under way. No other call of the job ever has the same epoch, so a late outcome is never taken for the outcome
 * of a later call.
 */
export interface CallName {
  readonly branch: string;
  readonly step: string;
  readonly visit: number;
  readonly epoch: number;
}

const none: readonly CallName[] = [];

/** The calls that a job owes or has under way, at most one in each branch. */
export function callsOf(state: JobState): readonly CallName[] {
  if (state.status !== "RUNNING" || !state.cursors.some(({ stand }) => stand.phase === "calling")) return none;
  return state.cursors.flatMap(({ branch, stand }) =>
    stand.phase === "calling" ? [{ branch, step: stand.name, visit: stand.visit, epoch: stand.epoch }] : [],
  );
}

/** The step that waits for this call; undefined when no step waits for it any more. */
export function callingStep(state: JobState, call: CallName): CallingStep | undefined {
  if (state.status !== "RUNNING") return undefined;
  const stand = state.cursors.find(({ branch }) => branch === call.branch)?.stand;
  if (stand?.phase !== "calling") return undefined;
  const isThis = stand.epoch === call.epoch && stand.name === call.step && stand.visit === call.visit;
  return isThis ? stand : undefined;
}

/** The changes of a job's calls from one of its states to a later one. */
export interface CallChanges {
  /** The calls that are over and that no other call of the same branch has replaced. */
  readonly ended: readonly CallName[];
  /** The calls that are new in their branch, including those that have replaced another call. */
  readonly made: readonly CallName[];
}

const unchanged: CallChanges = { ended: none, made: none };

/** Compares the calls of two states; `before` is undefined for a new job. */
export function compareCalls(before: JobState | undefined, after: JobState): CallChanges {
  const earlier = before === undefined ? none : callsOf(before);
  const later = callsOf(after);
  if (earlier.length === 0 && later.length === 0) return unchanged;
  const branches = new Set(later.map(({ branch }) => branch));
  const known = new Set(earlier.map(({ epoch }) => epoch));
  return {
    ended: earlier.filter(({ branch }) => !branches.has(branch)),
    made: later.filter(({ epoch }) => !known.has(epoch)),
  };
}

/** The idempotency key. It is the same for every attempt of a visit of a step, so that the called side can recognize a repetition. */
export function idempotencyKeyOf({ jobId, branch, step, visit }: CallName & { readonly jobId: string }): string {
  return [jobId, step, visit, ...(branch === mainBranch ? [] : [branch])].join(":");
}

export function callNameOf({ branch, step, visit, epoch }: CallName): CallName {
  return { branch, step, visit, epoch };
}
