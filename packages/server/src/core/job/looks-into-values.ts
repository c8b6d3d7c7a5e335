import { mainBranch, withAround } from "../branch-path.ts";
import { callOf, isWait, type Plan } from "../plan/plan.ts";
import type { Timestamp } from "../time.ts";
import { dueCursors } from "./due-cursors.ts";
import { awaitedBy, mayComplete } from "./events/event-payloads.ts";
import type { CallOutcome, EventReceived, UntimedFact } from "./fact.ts";
import type { JobState, WaitVisit } from "./job-state.ts";
import { waitsInOrder } from "./open-waits.ts";
import type { AnyCursor } from "./resume-point.ts";
import { countUnread } from "./values/stored-state.ts";

/**
 * Returns the branches whose values must be loaded: those whose values the state machine may read while it applies these facts, and the branches
 * around them. Most events are only recorded, and need no values. When a job ends, or when a node hands back a call, the state machine moves values
 * without reading them. If it is uncertain whether the values of a branch are needed, the branch is included. The values in `state` are not loaded
 * yet. `at` is the time of the facts.
 */
export function branchesLookedInto(
  plan: Plan,
  state: JobState,
  facts: readonly UntimedFact[],
  at: Timestamp,
): ReadonlySet<string> {
  const branches = [
    ...facts.flatMap((fact) => lookedInto(plan, state, fact, facts, at)),
    ...branchesOfCompletedWaits(plan, state, facts),
  ];
  return new Set(branches.flatMap((branch) => [...withAround(branch)]));
}

function lookedInto(
  plan: Plan,
  state: JobState,
  fact: UntimedFact,
  facts: readonly UntimedFact[],
  at: Timestamp,
): readonly string[] {
  switch (fact.type) {
    case "job.cancelled":
    case "job.resumed":
    case "parent.called":
    case "parent.left":
    case "event.received":
      return [];
    case "call.handedBack":
      return isTask(plan, fact.step) ? [fact.branch] : [];
    case "step.failed":
      return goesOnAfterFailure(plan, fact) ? [fact.branch] : [];
    case "step.succeeded":
      return goesOnAfterSuccess(plan, fact) || goesOnAfterFailure(plan, fact) ? [fact.branch] : [];
    case "step.interrupted":
      return [fact.branch];
    case "timer.due":
      return dueBranches(state, facts, at);
  }
}

/** Whether the step is a task. A task that is handed back returns to its queue at once, and expressions, which need values, may choose the queue. */
function isTask(plan: Plan, name: string): boolean {
  const step = plan.steps.get(name);
  return step !== undefined && callOf(step)?.by === "worker";
}

/**
 * The branches whose waits the events may complete. If an event is the only fact of the commit, it can complete only the first wait that it reaches.
 * If the commit has more facts, another fact may end that wait first. Then the event can complete another wait, so all waits that it may reach count.
 * If one commit would read too many values for all of these branches, some are left out. Such a branch stays in its wait until the next commit,
 * although the wait has enough events.
 */
function branchesOfCompletedWaits(plan: Plan, state: JobState, facts: readonly UntimedFact[]): readonly string[] {
  if (state.status !== "RUNNING") return [];
  const events = Map.groupBy(
    facts.filter((fact) => fact.type === "event.received"),
    ({ eventId }) => eventId,
  );
  const reached = [...events].flatMap(([eventId, sent]) =>
    waitsInOrder(plan, state, eventId).filter(({ visit }) => sent.some((event) => isFor(event, visit))),
  );
  const waits = facts.length === 1 ? reached.slice(0, 1) : reached;
  const completed = waits.filter(({ stand, visit }) => {
    const step = plan.steps.get(stand.name);
    return step !== undefined && isWait(step) && mayComplete(state.progress, awaitedBy(step, stand), visit, facts);
  });
  const branches = completed.map(({ branch }) => branch);
  return branches.length < 2 ? branches : withinBound(state.cursors, branches);
}

type EventFact = Omit<EventReceived, "at">;

function isFor({ step, branch = mainBranch, visit }: EventFact, of: WaitVisit): boolean {
  if (step === undefined) return true;
  return step === of.step && branch === (of.branch ?? mainBranch) && (visit === undefined || visit === of.visit);
}

/** Whether the job may continue after a failure of this call. When a branch fails, its fork may end, and the job may continue after the fork. */
function goesOnAfterFailure(plan: Plan, { branch, step }: CallFact): boolean {
  return branch !== mainBranch || plan.steps.get(step)?.onFailure.length !== 0;
}

function goesOnAfterSuccess(plan: Plan, { step: name }: CallFact): boolean {
  const step = plan.steps.get(name);
  return step?.next !== null || step.outputTemplate !== undefined;
}

type CallFact = Omit<CallOutcome, "at">;

/**
 * The branches that a timer or a resume moves, and the branches around them. A job that runs may end and be resumed in the same commit; its timer
 * then moves all of its branches.
 */
function dueBranches(state: JobState, facts: readonly UntimedFact[], at: Timestamp): readonly string[] {
  if (state.status === "SUCCEEDED") return [];
  const cursors: readonly AnyCursor[] = state.cursors;
  const isResumed = state.status !== "RUNNING" || facts.some(({ type }) => type === "job.resumed");
  const moved = isResumed
    ? cursors
    : [...dueCursors(cursors, at), ...cursors.filter((one) => mayBecomeDue(one, facts))];
  return withinBound(
    cursors,
    moved.map(({ branch }) => branch),
  );
}

/** Whether another fact of the commit may make the branch due: by handing its call back, or by freeing an event for its wait. */
function mayBecomeDue({ branch, stand }: AnyCursor, facts: readonly UntimedFact[]): boolean {
  if (facts.length === 1) return false;
  return stand?.phase === "waiting" || facts.some((fact) => fact.type === "call.handedBack" && fact.branch === branch);
}

/**
 * Returns the main line, the moved branches and the branches around them. A branch with which the commit would read too many values is left to a
 * later commit.
 */
function withinBound(all: readonly AnyCursor[], branches: readonly string[]): readonly string[] {
  const cursors = new Map<string, AnyCursor>(all.map((cursor) => [cursor.branch, cursor]));
  const read = new Set<string>([mainBranch]);
  let valueCount = 0;
  for (const moved of branches) {
    const added = [...withAround(moved)].filter((branch) => !read.has(branch));
    const count = added.reduce((sum, branch) => sum + countUnread(cursors.get(branch)), 0);
    if (valueCount > 0 && valueCount + count > maxValuesOfMovedBranches) continue;
    valueCount += count;
    for (const branch of added) read.add(branch);
  }
  return [...read];
}

/**
 * The maximum number of values that a commit may read for the branches that timers, a resume or several events move. For a single branch, a commit
 * may read more. A value may have some megabytes. Without the bound, a thousand branches that are due at the same time would load a gigabyte, for
 * which no node has room.
 */
const maxValuesOfMovedBranches = 16;
