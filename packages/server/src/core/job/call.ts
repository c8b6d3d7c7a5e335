import { type CallingStep, type JobState, mainBranch } from "./job-state.ts";

/**
 * Names one call of a job: what the job owes the outside, or has under way there. No other call of the job ever has its epoch, so an
 * outcome that comes late is never taken for the outcome of a later call.
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

/** The step that waits for this call; undefined when none does any more. */
export function callingStep(state: JobState, call: CallName): CallingStep | undefined {
  if (state.status !== "RUNNING") return undefined;
  const stand = state.cursors.find(({ branch }) => branch === call.branch)?.stand;
  if (stand?.phase !== "calling") return undefined;
  const isThis = stand.epoch === call.epoch && stand.name === call.step && stand.visit === call.visit;
  return isThis ? stand : undefined;
}

/** How the calls of a job change from one of its states to a later one. */
export interface CallChanges {
  /** These are over, and no other call took their place in their branch. */
  readonly ended: readonly CallName[];
  /** These are new in their branch, perhaps in the place of one that is over. */
  readonly made: readonly CallName[];
}

const unchanged: CallChanges = { ended: none, made: none };

/** `before` is undefined for a job that there was not. */
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

/** One key for every attempt of a visit of a step, so that the called side can tell a repetition. */
export function idempotencyKeyOf({ jobId, branch, step, visit }: CallName & { readonly jobId: string }): string {
  return [jobId, step, visit, ...(branch === mainBranch ? [] : [branch])].join(":");
}

export function callNameOf({ branch, step, visit, epoch }: CallName): CallName {
  return { branch, step, visit, epoch };
}
