import { branchField, levelOf, mainBranch, parentOf, pathOf } from "../branch-path.ts";
import { didYouMean } from "../closest-name.ts";
import { getOwn } from "../json/record.ts";
import { isWait, type Plan, type PlanStep } from "../plan/plan.ts";
import { type Problem, quoted } from "../problem.ts";
import type { EventReceived } from "./fact.ts";
import type { PendingState, RunningState, WaitVisit } from "./job-state.ts";
import { hasEnough } from "./open-waits.ts";
import { placeOf } from "./result-rows.ts";
import type { AnyCursor } from "./resume-point.ts";

/** The waits for which an event was sent: any wait, or one visit of one wait step. Or the reason why the event cannot be sent there. */
export type EventAddress =
  | { readonly type: "any" }
  | { readonly type: "one"; readonly visit: WaitVisit }
  | { readonly type: "wrong"; readonly problem: Problem }
  | { readonly type: "over"; readonly detail: string };

export function addressOf(plan: Plan, state: PendingState | RunningState, fact: EventReceived): EventAddress {
  const { eventId, step, branch, visit } = fact;
  if (step === undefined) {
    if (visit !== undefined) return wrong("/visit", "needs the name of its step; add `step`, or leave `visit` out");
    if (branch !== undefined)
      return wrong("/branch", "needs the name of a step in the branch; add `step`, or leave `branch` out");
    return { type: "any" };
  }
  const listing = (plan.waitsByEventId.get(eventId) ?? []).map(({ name }) => name);
  const planned = plan.steps.get(step);
  const hasOpenIds = planned !== undefined && isWait(planned) && planned.work.openRule !== undefined;
  if (planned === undefined || (!listing.includes(step) && !hasOpenIds)) {
    const detail = plan.steps.has(step)
      ? `the step ${quoted(step)} does not list the event ${quoted(eventId)}`
      : `the job's version has no step ${quoted(step)}${didYouMean(step, listing)}`;
    return wrong("/step", detail);
  }
  const path = branch ?? mainBranch;
  const misplaced = placeProblem(planned, path);
  if (misplaced !== undefined) return wrong("/branch", misplaced);
  const cursor = state.cursors.find((one) => one.branch === path);
  const excess = cursor === undefined ? itemProblem(state, path) : undefined;
  if (excess !== undefined) return wrong("/branch", excess);
  if (cursor === undefined && hasBegun(plan, state, path)) {
    return { type: "over", detail: `The branch ${quoted(path)} is over.` };
  }
  const visitCount = getOwn(cursor?.carried.visits ?? {}, step) ?? 0;
  const isOpen = cursor !== undefined && isIn(cursor, step) && !hasEnough(plan, cursor);
  const next = isOpen ? visitCount : visitCount + 1;
  if (visit !== undefined && visit < next) {
    return {
      type: "over",
      detail: `Visit ${visit} of ${quoted(step)} is over. The next visit that can take an event is ${next}.`,
    };
  }
  return { type: "one", visit: { ...branchField(path), step, visit: visit ?? next } };
}

function wrong(pointer: string, detail: string): EventAddress {
  return { type: "wrong", problem: { pointer, detail } };
}

/** The reason why the step cannot be in a branch with this path; undefined when it can. */
function placeProblem({ name, around }: PlanStep, path: string): string | undefined {
  const expected = around.reduce(
    (parent, { fork, branch }) => pathOf(parent, { fork, visit: 1, key: branch ?? "0" }),
    mainBranch,
  );
  if (path === mainBranch) {
    if (around.length === 0) return undefined;
    return `the step ${quoted(name)} is in a branch; name the branch, such as ${quoted(expected)}`;
  }
  const levels = levelsOf(path);
  const fits =
    levels?.length === around.length &&
    around.every(({ fork, branch }, index) => {
      const level = levels[index];
      return (
        level?.fork === fork && (branch === undefined ? /^(0|[1-9]\d{0,4})$/.test(level.key) : level.key === branch)
      );
    });
  if (fits) return undefined;
  if (around.length === 0) return `the step ${quoted(name)} is not in a branch; leave \`branch\` out`;
  return `is not a branch that contains the step ${quoted(name)}; such a branch is, for example, ${quoted(expected)}`;
}

/**
 * The reason why no branch with this path can exist: the path names an item that the list of a running fork does not have. Undefined when there can
 * be such a branch.
 */
function itemProblem({ cursors }: PendingState | RunningState, path: string): string | undefined {
  for (let rest = path; rest !== mainBranch; rest = parentOf(rest)) {
    const level = levelOf(rest);
    const fork = pointOf(cursors.find(({ branch }) => branch === parentOf(rest)));
    if (fork?.phase !== "forked" || fork.name !== level?.fork || fork.visit !== level.visit) continue;
    if (fork.items !== undefined && Number(level.key) >= fork.branchCount)
      return `names an item that the list of ${quoted(fork.name)} does not have: it has ${fork.branchCount} items, numbered from 0`;
  }
  return undefined;
}

/** The levels of a path, outermost first. Undefined when a level is invalid, or is not written as the service writes it. */
function levelsOf(path: string) {
  const levels = [];
  for (let rest = path; rest !== mainBranch; rest = parentOf(rest)) {
    const level = levelOf(rest);
    if (level === undefined || pathOf(parentOf(rest), level) !== rest) return undefined;
    levels.unshift(level);
  }
  return levels;
}

/**
 * A branch that is not open is either over or has not begun yet. Returns whether it is over: its fork has begun the branch already, the fork's visit
 * in the path has ended, or a branch around the fork is over.
 */
function hasBegun(plan: Plan, state: PendingState | RunningState, path: string): boolean {
  const level = levelOf(path);
  const parent = state.cursors.find(({ branch }) => branch === parentOf(path));
  if (level === undefined) return false;
  if (parent === undefined) return hasBegun(plan, state, parentOf(path));
  const { fork, visit, key } = level;
  const visitCount = getOwn(parent.carried.visits, fork) ?? 0;
  if (visit !== visitCount) return visit < visitCount;
  const stand = pointOf(parent);
  if (stand?.phase !== "forked" || stand.name !== fork) return true;
  const work = plan.steps.get(fork)?.work;
  return work?.kind === "fork" && placeOf(work.rule, key) < stand.begunCount;
}

/** Where a branch is. For a stopped branch, this is where a resume continues it. */
function pointOf(cursor: AnyCursor | undefined) {
  const stand = cursor?.stand;
  return stand?.phase === "stopped" ? stand.point : stand;
}

/** Whether the branch is in this step, or will be in it after a resume. */
function isIn({ stand }: AnyCursor, step: string): boolean {
  if (stand === null || stand.phase === "next") return false;
  return stand.name === step && (stand.phase !== "stopped" || stand.point.phase !== "next");
}
