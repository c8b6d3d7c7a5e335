import { type BranchLevel, isInside, levelOf, parentOf, pathOf, pathsOf } from "../branch-path.ts";
import type { BranchesRule, ForkRule, ItemsRule } from "../definition/executor-kind.ts";
import { itemStatuses } from "../definition/fork-result.ts";
import type { JsonValue } from "../json/json.ts";
import type { ForkPlanStep } from "../plan/plan.ts";
import { quoted } from "../problem.ts";
import { type BranchResult, branchErrorOf } from "./branch-result.ts";
import type { JobDraft } from "./draft.ts";
import { freeTakenEvents, releaseEvents } from "./events/kept-events.ts";
import { configValue } from "./expressions.ts";
import type { BranchError, ForkedStep, ResumePoint, StepError, StepPosition } from "./job-state.ts";
import { lacksResults, resultFinder, withResult } from "./result-rows.ts";

/** The fork in the current branch stays open, has this result, or has failed with this error. */
export type ForkOutcome =
  | "open"
  | { readonly fork: ForkedStep; readonly result: JsonValue }
  | { readonly fork: ForkedStep; readonly error: StepError };

/** Begins the work of a fork that the current branch has entered. `beginNextBranch` begins its branches. */
export function beginFork(
  draft: JobDraft,
  step: ForkPlanStep,
  position: StepPosition,
  input: JsonValue,
): ForkOutcome | { readonly error: StepError } {
  const { rule } = step.work;
  const items = itemsOf(draft, step, input);
  if ("error" in items) return items;
  const { name, visit, attempt } = position;
  const list = rule.kind === "items" ? items.value : undefined;
  const branchCount = rule.kind === "items" ? items.value.length : rule.branches.length;
  draft.record({
    type: "step.forked",
    step: name,
    visit,
    branchCount,
    ...(list !== undefined && { items: draft.storedItems(list as JsonValue) }),
  });
  draft.moveTo({
    phase: "forked",
    ...{ name, visit, attempt, input },
    ...(list !== undefined && { items: list }),
    branchCount,
    begunCount: 0,
    succeededCount: 0,
    failedCount: 0,
    results: {},
    resultBytes: 0,
  });
  return proceed(draft, step);
}

function itemsOf(draft: JobDraft, { name, work }: ForkPlanStep, input: JsonValue) {
  const { items } = work;
  if (!("template" in items)) return { value: items };
  const resolved = configValue(draft, items, name, input);
  return "error" in resolved ? resolved : { value: resolved.value.items };
}

/** Continues with a fork that a timer woke: begins more branches, or makes its result. */
export function wakeFork(draft: JobDraft, { wakeAt: _, ...fork }: ForkedStep): ForkOutcome {
  const step = draft.forkStep(fork.name);
  if (isOver(step.work.rule, fork) && lacksResults(fork, draft.results)) return "open";
  draft.moveTo(fork);
  return proceed(draft, step);
}

/** Continues a fork after a resume. Its branches continue from where they stopped, and branches that have not begun can begin. */
export function resumeFork(draft: JobDraft, point: ForkedStep): ForkOutcome {
  const step = draft.forkStep(point.name);
  const { rule } = step.work;
  const attempt = point.attempt + 1;
  draft.record({ type: "step.attemptStarted", step: point.name, visit: point.visit, attempt });
  // A branch can fail while its parallel step goes on. The resume continues such a branch too, so its failure does not count any more.
  const failedCount = rule.kind === "branches" ? 0 : point.failedCount;
  draft.moveTo({ ...point, attempt, failedCount });
  return proceed(draft, step);
}

export function endBranch(draft: JobDraft, output: JsonValue): ForkOutcome {
  const path = draft.branch;
  const { fork, step, level } = leaveBranch(draft);
  dropBranches(draft, path);
  const { rule } = step.work;
  const counted = { ...fork, succeededCount: fork.succeededCount + 1 };
  const isKept = rule.kind === "branches" || rule.output === "list";
  draft.moveTo(isKept ? withResult(draft, rule, counted, level.key, { output }) : counted);
  return proceed(draft, step);
}

/** Ends the current branch with a failure. `point` is where a resume continues it. */
export function failBranch(draft: JobDraft, point: ResumePoint, error: StepError): ForkOutcome {
  const path = draft.branch;
  const cause = branchErrorOf(error, point.name, path);
  draft.stop(point);
  draft.progress = freeTakenEvents(draft.progress, isAt(path));
  const { fork, step, level } = leaveBranch(draft);
  const { rule } = step.work;
  const failed = { ...fork, failedCount: fork.failedCount + 1 };
  if (rule.kind === "branches") {
    const isAlive = rule.until === "any" && failed.failedCount < rule.branches.length;
    draft.moveTo(rule.until === "any" ? failed : fork);
    return isAlive
      ? "open"
      : { fork: draft.forkIn(draft.branch), error: branchFailed(rule, step.name, level.key, cause) };
  }
  const isCollected = rule.onItemFailure === "collect" && failed.failedCount <= (rule.maxFailures ?? Infinity);
  if (!isCollected) return { fork, error: itemFailed(rule, step.name, level.key, cause) };
  dropBranches(draft, path);
  draft.moveTo(rule.output === "counts" ? failed : withResult(draft, rule, failed, level.key, { error: cause }));
  return proceed(draft, step);
}

/**
 * Ends a fork and cancels the branches that still run. The outcomes of their calls are dropped, and events that they claimed are available to other
 * waits again.
 */
export function endFork(draft: JobDraft, { name, visit }: StepPosition): void {
  const paths = pathsOf(draft.branch, name, visit);
  for (const path of draft.branchesUnder(paths)) draft.drop(path);
  draft.progress = releaseEvents(draft.progress, (branch) => branch.startsWith(paths));
}

function dropBranches(draft: JobDraft, path: string): void {
  draft.drop(path);
  draft.progress = releaseEvents(draft.progress, isAt(path));
}

function isAt(path: string): (branch: string) => boolean {
  return (branch) => branch === path || isInside(branch, path);
}

/**
 * Begins one more branch of the innermost fork that has room, and returns the branch's first step. Branches begin one at a time. So a
 * branch that waits for nothing ends before the next branch begins.
 */
export function beginNextBranch(draft: JobDraft): string | undefined {
  for (let parent = draft.forksWithRoom.at(-1); parent !== undefined; parent = draft.forksWithRoom.at(-1)) {
    const fork = draft.standOf(parent);
    const next = fork?.phase === "forked" ? nextBranch(draft.forkStep(fork.name).work.rule, fork) : undefined;
    if (fork?.phase !== "forked" || next === undefined) {
      draft.forksWithRoom.pop();
      continue;
    }
    const { wakeAt: _, ...others } = fork;
    draft.enter(parent);
    draft.moveTo({ ...others, begunCount: fork.begunCount + 1 });
    draft.begin(pathOf(parent, { fork: fork.name, visit: fork.visit, key: next.key }));
    return next.step;
  }
  return undefined;
}

/** Lets the forks that have room begin more branches in the next commit, because this commit has done enough. */
export function leaveRoomForLater(draft: JobDraft): void {
  for (const parent of draft.forksWithRoom) {
    const fork = draft.standOf(parent);
    if (fork?.phase !== "forked" || nextBranch(draft.forkStep(fork.name).work.rule, fork) === undefined) continue;
    draft.enter(parent);
    draft.moveTo({ ...fork, wakeAt: draft.at });
  }
}

function nextBranch(rule: ForkRule, fork: ForkedStep): { readonly key: string; readonly step: string } | undefined {
  const { branchCount, begunCount, succeededCount, failedCount } = fork;
  if (rule.kind === "branches") {
    const next = rule.branches[begunCount];
    return next && { key: next.name, step: next.step };
  }
  const openCount = begunCount - succeededCount - failedCount;
  if (begunCount >= branchCount || openCount >= rule.concurrency) return undefined;
  return { key: String(begunCount), step: rule.step };
}

/**
 * Leaves the current branch: the branch in which its fork stands becomes the current one. Returns this fork, its step, and the level that was left.
 */
function leaveBranch(draft: JobDraft): { fork: ForkedStep; step: ForkPlanStep; level: BranchLevel } {
  const level = levelOf(draft.branch);
  if (level === undefined) throw new Error(`${draft.branch} is not a branch.`);
  draft.enter(parentOf(draft.branch));
  const fork = draft.forkIn(draft.branch);
  return { fork, step: draft.forkStep(fork.name), level };
}

/** Decides how the fork in the current branch continues: it has its result, has failed, or stays open and may begin more branches. */
function proceed(draft: JobDraft, { name, work: { rule } }: ForkPlanStep): ForkOutcome {
  const fork = draft.forkIn(draft.branch);
  const { maxOutputBytes } = draft.limits;
  if (fork.resultBytes > maxOutputBytes) {
    const message = `The outputs of the branches of ${name} have more than ${maxOutputBytes} bytes together, which is the maximum of a step's output. Return less, or in a forEach set \`output\` to \`counts\`.`;
    return { fork, error: { code: "OutputTooLarge", message } };
  }
  const isDone = isOver(rule, fork);
  // This commit has not read the results of the branches. The next commit reads them and makes the fork's result.
  if (isDone && lacksResults(fork, draft.results)) {
    draft.moveTo({ ...fork, wakeAt: draft.at });
    return "open";
  }
  if (isDone) return { fork, result: resultOf(rule, fork, resultFinder(rule, fork, draft.results)) };
  draft.forksWithRoom.push(draft.branch);
  return "open";
}

/** Whether the result of a fork is decided, so that the branches that are still open do not count. */
function isOver(rule: ForkRule, fork: ForkedStep): boolean {
  const { branchCount, succeededCount, failedCount } = fork;
  if (rule.kind === "branches" && rule.until === "any") return succeededCount > 0;
  return succeededCount + failedCount >= branchCount;
}

function resultOf(rule: ForkRule, fork: ForkedStep, find: (key: string) => BranchResult | undefined): JsonValue {
  if (rule.kind === "items") return itemsResult(rule, fork, find);
  const given = rule.branches.flatMap(({ name }) => {
    const result = find(name);
    return result !== undefined && "output" in result ? [[name, result.output] as const] : [];
  });
  // `Object.fromEntries` is used because a branch may have any name, even `__proto__`.
  if (rule.until === "all") return Object.fromEntries(given);
  const [[branch, output] = ["", null]] = given;
  return { branch, output };
}

function itemsResult(
  { output: form, onItemFailure }: ItemsRule,
  { name, branchCount, succeededCount, failedCount }: ForkedStep,
  find: (key: string) => BranchResult | undefined,
): JsonValue {
  if (form === "counts") return { total: branchCount, succeeded: succeededCount, failed: failedCount };
  return Array.from({ length: branchCount }, (_, index) => {
    const result = find(String(index));
    if (result === undefined) throw new Error(`Item ${index} of ${name} has no result.`);
    if (onItemFailure === "fail") return "output" in result ? result.output : null;
    if ("output" in result) return { status: itemStatuses.succeeded, output: result.output };
    return { status: itemStatuses.failed, error: { ...result.error } };
  });
}

function branchFailed({ until }: BranchesRule, step: string, key: string, cause: BranchError): StepError {
  const which =
    until === "any"
      ? `All branches of ${step} failed, the last one ${quoted(key)}`
      : `The branch ${quoted(key)} of ${step} failed`;
  return { code: "BranchFailed", message: `${which}: ${describe(cause)}`, cause };
}

function itemFailed(
  { onItemFailure, maxFailures = 0 }: ItemsRule,
  step: string,
  key: string,
  cause: BranchError,
): StepError {
  const reason = describe(cause);
  return onItemFailure === "fail"
    ? { code: "ItemFailed", message: `In ${step}, item ${key} failed: ${reason}`, cause }
    : {
        code: "TooManyFailures",
        message: `In ${step} more than ${maxFailures} items failed. The last one was item ${key}: ${reason}`,
        cause,
      };
}

/** The failure may be in a child job, or in a job below the child. */
function describe({ jobId, step, code, type, message }: BranchError): string {
  const which = jobId === undefined ? `its step ${quoted(step)}` : `the step ${quoted(step)} of the job ${jobId}`;
  return `${which} failed with ${type === undefined ? code : `${code} (${type})`}. ${message}`;
}
