import { mainBranch, pathOf } from "../../branch-path.ts";
import { type ProblemList, pointerTo, quoted } from "../../problem.ts";
import type { RoughStep } from "../definition-step.ts";
import { type Transition, targetsOf } from "../transition.ts";
import { crossings, openBranchCount, type Region, type Regions, regionsOf } from "./regions.ts";
import { buildGraph, type Edge, type GraphStep, type StepGraph } from "./step-graph.ts";

/**
 * Checks the transitions of a definition. Names must be unique. Every step must be reachable from the first one, and the end must be reachable from
 * every step. No transition may lead out of a branch or into one. A loop with an exit is allowed. Returns whether every transition is known and
 * valid.
 */
export function checkReachability(steps: readonly RoughStep[], problems: ProblemList): boolean {
  // If two steps have the same name, the target of a transition is ambiguous.
  if (refuseDoubledNames(steps, problems)) return false;
  const graphSteps = graphStepsOf(steps);
  const graph = buildGraph(graphSteps);
  const hasBrokenTransition = steps.some(isBroken);
  // A broken transition may have been meant to lead to any step. So when there is a broken transition, unreachable steps are not reported.
  const hasUnreachable = !hasBrokenTransition && refuseUnreachable(steps, graph, problems);
  const hasEndless = refuseEndless(steps, graph, problems);
  const hasUnsoundRegion = refuseUnsoundRegions(graphSteps, graph, problems);
  return !hasBrokenTransition && !hasUnreachable && !hasEndless && !hasUnsoundRegion;
}

function refuseDoubledNames(steps: readonly RoughStep[], problems: ProblemList): boolean {
  const first = new Map<string, number>();
  let hasDouble = false;
  for (const [index, { name }] of steps.entries()) {
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      continue;
    }
    problems.add(
      `${pointerToStep(index)}/name`,
      `${quoted(name)} is already the name of ${pointerToStep(earlier)}; give each step a name of its own`,
    );
    hasDouble = true;
  }
  return hasDouble;
}

function isBroken(step: RoughStep): boolean {
  const isTransitionBroken = step.transitionToStep === undefined || step.isFailureTransitionBroken;
  return step.name === undefined || isTransitionBroken || step.isForkBroken;
}

function graphStepsOf(steps: readonly RoughStep[]): GraphStep[] {
  return steps.map(({ name, transitionToStep, onFailure, work }, index) => ({
    // A step without a name gets one that no transition can have, because names must not have control characters.
    name: name ?? `\u0000${index}`,
    transitionToStep: transitionToStep ?? null,
    onFailure,
    work,
  }));
}

function refuseUnreachable(steps: readonly RoughStep[], graph: StepGraph, problems: ProblemList): boolean {
  const reached = new Set(graph.order);
  const unreachable = [...steps.entries()].filter(([index]) => !reached.has(index));
  for (const [index, { name }] of unreachable) {
    const start = quoted(steps[0]?.name ?? "");
    problems.add(
      pointerToStep(index),
      `${quoted(name ?? "")} can never be reached: no path leads to it from ${start}, the first step`,
    );
  }
  return unreachable.length > 0;
}

function refuseEndless(steps: readonly RoughStep[], graph: StepGraph, problems: ProblemList): boolean {
  const ending = stepsThatCanEnd(steps, graph);
  const endless = [...steps.entries()].filter(([index]) => !ending.has(index));
  for (const [index, { name }] of endless) {
    const detail = `from ${quoted(name ?? "")} no path leads to the end, so a job can never end from there`;
    problems.add(
      `${pointerToStep(index)}/transitionToStep`,
      `${detail}; give this step, or a step that comes after it, the transition null`,
    );
  }
  return endless.length > 0;
}

/** Walks backwards from the steps that may end a job or a branch, and from the broken steps, which may have been meant to end one. */
function stepsThatCanEnd(steps: readonly RoughStep[], graph: StepGraph): ReadonlySet<number> {
  const ending = new Set(
    [...steps.entries()].filter(([, step]) => mayEnd(step.transitionToStep) || isBroken(step)).map(([index]) => index),
  );
  // The loop also visits steps that it adds to the set.
  for (const index of ending) {
    // The end of a branch is not the end of its fork.
    for (const edge of graph.incoming[index] ?? []) if (edge.kind !== "fork") ending.add(edge.from);
  }
  return ending;
}

function mayEnd(transition: Transition | undefined): boolean {
  return transition !== undefined && targetsOf(transition).includes(null);
}

function pointerToStep(index: number): string {
  return pointerTo("/steps", index);
}

/**
 * Refuses steps that are in two branches, transitions that cross the border of a branch, nesting that is too deep, paths that are too long, and too
 * many open branches. Returns whether anything was refused.
 */
function refuseUnsoundRegions(steps: readonly GraphStep[], graph: StepGraph, problems: ProblemList): boolean {
  const countBefore = problems.count;
  const regions = regionsOf(steps, graph);
  for (const { fork, branch, first } of regions.takenStarts) {
    const place = describeRegion(regions.of[first] ?? regionThatBeginsAt(first, regions), steps);
    const detail = `${quoted(nameOf(steps, first))} is ${place} already; each branch has steps of its own, and only ${quoted(nameOf(steps, fork))} may lead to the first steps of its branches`;
    problems.add(pointerToStart(fork, branch), detail);
  }
  for (const edge of crossings(regions, graph)) refuseCrossing(edge, steps, regions, problems);
  for (const { depth, fork, around } of regions.all) {
    if (depth !== maxDepth + 1 || fork === undefined || around?.depth !== maxDepth) continue;
    const detail = `${quoted(nameOf(steps, fork))} is nested in ${maxDepth} branches already, and deeper nesting is not allowed`;
    problems.add(pointerToStep(fork), detail);
  }
  for (const region of regions.all) refuseLongPath(region, steps, problems);
  if (problems.count > countBefore) return true;
  const open = openBranchCount(steps, regions);
  if (open > maxOpenBranches) {
    const detail = `with these parallel steps, and this concurrency of the forEach steps, a job could have ${open} branches open at once; ${maxOpenBranches} are allowed`;
    problems.add("/steps", `${detail}. Lower a \`concurrency\`, or nest less`);
  }
  return open > maxOpenBranches;
}

/**
 * Refuses a region whose path may be too long. Reports only the outermost region of this kind, because the paths of the regions inside it are even
 * longer.
 */
function refuseLongPath(region: Region, steps: readonly GraphStep[], problems: ProblemList): void {
  const { fork, around } = region;
  const bytes = longestPathBytes(region, steps);
  if (fork === undefined || bytes <= maxPathBytes || longestPathBytes(around, steps) > maxPathBytes) return;
  const detail = `the path of a branch contains the names of all forks and branches around it; here it can have ${bytes} bytes, but ${maxPathBytes} are allowed`;
  problems.add(`${pointerToStep(fork)}/name`, `${detail}; give shorter names, or nest less`);
}

function longestPathBytes(region: Region | undefined, steps: readonly GraphStep[]): number {
  const path = (of: Region | undefined): string =>
    of?.fork === undefined
      ? mainBranch
      : pathOf(path(of.around), { fork: nameOf(steps, of.fork), visit: 999_999_999, key: of.branch ?? "9999" });
  return Buffer.byteLength(path(region));
}

/** A path is part of the key of a row of `job_call`, and PostgreSQL takes no key of more than 2,704 bytes. */
const maxPathBytes = 2_000;
/** A deeper definition would be hard to read, and each level adds a part to a branch's path. */
const maxDepth = 5;
/** The open branches are part of the state of a job, which is written with each change. */
const maxOpenBranches = 1_000;

function refuseCrossing(
  { from, to, kind }: Edge,
  steps: readonly GraphStep[],
  { of }: Regions,
  problems: ProblemList,
): void {
  const [here, there] = [of[from], of[to]];
  const names = `${quoted(nameOf(steps, to))} is ${describeRegion(there, steps)}, and ${quoted(nameOf(steps, from))} ${describeRegion(here, steps)}`;
  const advice =
    here?.fork === undefined
      ? "the steps of a branch run only as part of that branch"
      : `a branch ends with the transition null, and then the job continues after ${quoted(nameOf(steps, here.fork))}`;
  const field = kind === "failure" ? "onFailure" : "transitionToStep";
  problems.add(`${pointerToStep(from)}/${field}`, `${names}; ${advice}`);
}

function regionThatBeginsAt(first: number, { all }: Regions): Region | undefined {
  return all.find((region) => region.first === first);
}

function describeRegion(region: Region | undefined, steps: readonly GraphStep[]): string {
  if (region?.fork === undefined) return "on the main line";
  const fork = quoted(nameOf(steps, region.fork));
  return region.branch === undefined ? `in the body of ${fork}` : `in the branch ${quoted(region.branch)} of ${fork}`;
}

function pointerToStart(fork: number, branch: string | undefined): string {
  const config = `${pointerToStep(fork)}/integrationDetails/config`;
  return branch === undefined ? `${config}/step` : pointerTo(`${config}/branches`, branch);
}

function nameOf(steps: readonly GraphStep[], index: number): string {
  return steps[index]?.name ?? "";
}
