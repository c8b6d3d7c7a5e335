import { type ProblemList, pointerTo, quoted } from "../problem.ts";
import type { RoughStep } from "./definition-step.ts";
import { buildGraph, type StepGraph } from "./step-graph.ts";

/**
 * Checks the transitions of a definition: names are unique, every step can be reached from the first one, and the end can be reached from
 * every step. A loop with a way out is fine. Answers whether every transition is known and sound.
 */
export function checkReachability(steps: readonly RoughStep[], problems: ProblemList): boolean {
  // With two steps of one name it is not known where a transition leads.
  if (refuseDoubledNames(steps, problems)) return false;
  const graph = graphOf(steps);
  const hasBrokenTransition = steps.some(isBroken);
  // A broken transition may have been meant to lead anywhere, so that nothing is certain to be out of reach.
  const hasUnreachable = !hasBrokenTransition && refuseUnreachable(steps, graph, problems);
  const hasEndless = refuseEndless(steps, graph, problems);
  return !hasBrokenTransition && !hasUnreachable && !hasEndless;
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
      `${quoted(name)} is the name of ${pointerToStep(earlier)} already; give each step its own`,
    );
    hasDouble = true;
  }
  return hasDouble;
}

function isBroken(step: RoughStep): boolean {
  return step.name === undefined || step.transitionToStep === undefined || step.isFailureTransitionBroken;
}

function graphOf(steps: readonly RoughStep[]): StepGraph {
  return buildGraph(
    steps.map(({ name, transitionToStep, onFailure }, index) => ({
      // No name that a transition could lead to: control characters are not allowed in one.
      name: name ?? `\u0000${index}`,
      transitionToStep: transitionToStep ?? null,
      onFailure,
    })),
  );
}

function refuseUnreachable(steps: readonly RoughStep[], graph: StepGraph, problems: ProblemList): boolean {
  const reached = new Set(graph.order);
  const unreachable = [...steps.entries()].filter(([index]) => !reached.has(index));
  for (const [index, { name }] of unreachable) {
    const start = quoted(steps[0]?.name ?? "");
    problems.add(
      pointerToStep(index),
      `${quoted(name ?? "")} can never be reached: no way leads to it from ${start}, the first step`,
    );
  }
  return unreachable.length > 0;
}

function refuseEndless(steps: readonly RoughStep[], graph: StepGraph, problems: ProblemList): boolean {
  const ending = stepsThatCanEnd(steps, graph);
  const endless = [...steps.entries()].filter(([index]) => !ending.has(index));
  for (const [index, { name }] of endless) {
    const detail = `from ${quoted(name ?? "")} no way leads to the end, so that a job can never end there`;
    problems.add(
      `${pointerToStep(index)}/transitionToStep`,
      `${detail}; give some step on its way the transition null`,
    );
  }
  return endless.length > 0;
}

/** Backwards from the steps that end a job, or whose transition is broken and may be meant to. */
function stepsThatCanEnd(steps: readonly RoughStep[], graph: StepGraph): ReadonlySet<number> {
  const ending = new Set(
    [...steps.entries()].filter(([, step]) => step.transitionToStep === null || isBroken(step)).map(([index]) => index),
  );
  // A set that grows while it is walked is walked to its end.
  for (const index of ending) {
    for (const edge of graph.incoming[index] ?? []) ending.add(edge.from);
  }
  return ending;
}

function pointerToStep(index: number): string {
  return pointerTo("/steps", index);
}
