import type { ForkRule } from "../definition/executor-kind.ts";
import type { JsonObject } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import { type BranchResult, type BranchResults, firstNumberOfResults } from "./branch-result.ts";
import type { JobDraft } from "./draft.ts";
import type { UntimedFact } from "./fact.ts";
import type { ForkedStep, Job } from "./job-state.ts";

/**
 * The results of a fork stay in the state up to this total length in bytes. The state is written with each change, so it must not hold much about
 * branches that are over.
 */
const maxBytesInState = 2_000;

/**
 * Adds a result to the fork. When the results get too long for the state, each gets a row of its own. The row is written only once, and is read when
 * the fork's own result is made. A fork that ends with its first output needs no such rows.
 */
export function withResult(
  draft: JobDraft,
  rule: ForkRule,
  fork: ForkedStep,
  key: string,
  result: BranchResult,
): ForkedStep {
  const resultBytes = fork.resultBytes + bytesOf(result);
  const { firstResultNumber } = fork;
  if (firstResultNumber !== undefined) {
    draft.keepResult({ valueNumber: firstResultNumber + placeOf(rule, key), result });
    return { ...fork, resultBytes };
  }
  const noted = note(fork, key, result);
  const isOnlyOne = rule.kind === "branches" && rule.until === "any";
  if (isOnlyOne || resultBytes <= maxBytesInState) return { ...noted, resultBytes };
  const { resultNumberCount = 0 } = draft.progress;
  const first = firstNumberOfResults + resultNumberCount;
  draft.progress = { ...draft.progress, resultNumberCount: resultNumberCount + fork.branchCount };
  for (const [other, output] of Object.entries(noted.results))
    draft.keepResult({ valueNumber: first + placeOf(rule, other), result: { output } });
  for (const [other, error] of Object.entries(noted.errors ?? {}))
    draft.keepResult({ valueNumber: first + placeOf(rule, other), result: { error } });
  const { errors: _, ...others } = noted;
  return { ...others, results: {}, resultBytes, firstResultNumber: first };
}

/** Returns a function that finds the result of a branch. It returns undefined when the branch has none, or when the result was not read. */
export function resultFinder(
  rule: ForkRule,
  fork: ForkedStep,
  read: BranchResults,
): (key: string) => BranchResult | undefined {
  const { firstResultNumber, results, errors = {} } = fork;
  if (firstResultNumber !== undefined) return (key) => read.get(firstResultNumber + placeOf(rule, key));
  return (key) => {
    const output = getOwn(results, key);
    if (output !== undefined) return { output };
    const error = getOwn(errors, key);
    return error && { error };
  };
}

/** Whether the fork's result cannot be made yet, because the results of its branches were not read. */
export function lacksResults(fork: ForkedStep, read: BranchResults): boolean {
  return fork.firstResultNumber !== undefined && !read.has(fork.firstResultNumber);
}

export interface NumberRange {
  readonly first: number;
  readonly count: number;
}

/** The numbers of the results that the job needs for these facts. They are the results of one fork whose branches are all over. */
export function resultsToRead({ state }: Job, facts: readonly UntimedFact[]): NumberRange | undefined {
  if (state.status !== "RUNNING" && state.status !== "PENDING") return undefined;
  if (!facts.some(({ type }) => type === "timer.due")) return undefined;
  for (const { stand } of state.cursors) {
    if (stand?.phase !== "forked" || stand.firstResultNumber === undefined) continue;
    const { branchCount, firstResultNumber } = stand;
    if (stand.succeededCount + stand.failedCount >= branchCount)
      return { first: firstResultNumber, count: branchCount };
  }
  return undefined;
}

function note(fork: ForkedStep, key: string, result: BranchResult): ForkedStep {
  if ("output" in result) return { ...fork, results: { ...fork.results, [key]: result.output } as JsonObject };
  return { ...fork, errors: { ...fork.errors, [key]: result.error } };
}

/** The position of a branch among the branches of its fork. */
export function placeOf(rule: ForkRule, key: string): number {
  return rule.kind === "branches" ? rule.branches.findIndex(({ name }) => name === key) : Number(key);
}

/** The length of the result as JSON, including a comma after it. */
function bytesOf(result: BranchResult): number {
  return Buffer.byteLength(JSON.stringify("output" in result ? result.output : result.error)) + 1;
}
