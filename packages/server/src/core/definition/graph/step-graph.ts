import { type StepWork, startsOf } from "../step-work.ts";
import { type Transition, targetsOf } from "../transition.ts";

/** The parts of a step that a graph needs. */
export interface GraphStep {
  readonly name: string;
  readonly transitionToStep: Transition;
  /** The steps to which failures lead. */
  readonly onFailure: readonly { readonly step: string }[];
  /** Undefined when the work is not known. */
  readonly work: StepWork | undefined;
}

/** A transition from one step to another. Steps are identified by their index in the definition. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  /**
   * `failure`: the edge is taken when the step has failed and has made no output. `fork`: the edge leads from a fork to the first step of a branch.
   * When the edge is taken, the fork has not made an output yet. No edge leads back from the branch to the fork.
   */
  readonly kind: "transition" | "failure" | "fork";
}

/** The steps of a definition and the transitions between them. A transition to an unknown name is left out. */
export interface StepGraph {
  readonly stepCount: number;
  /** The edges that lead to each step, by its index. */
  readonly incoming: readonly (readonly Edge[])[];
  readonly outgoing: readonly (readonly Edge[])[];
  /** The steps that can be reached from the first one. Each comes after its predecessors, except in loops. */
  readonly order: readonly number[];
  /** The steps of `order`, in reverse. */
  readonly backwards: readonly number[];
}

export function buildGraph(steps: readonly GraphStep[]): StepGraph {
  const edges = edgesOf(steps);
  const incoming: Edge[][] = steps.map(() => []);
  const outgoing: Edge[][] = steps.map(() => []);
  for (const edge of edges) {
    incoming[edge.to]?.push(edge);
    outgoing[edge.from]?.push(edge);
  }
  const order = reversePostorder(outgoing);
  return { stepCount: steps.length, incoming, outgoing, order, backwards: order.toReversed() };
}

function edgesOf(steps: readonly GraphStep[]): Edge[] {
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  return steps.flatMap(({ transitionToStep, onFailure, work }, from) => {
    const next = targetsOf(transitionToStep).flatMap((name) => (name === null ? [] : (indexes.get(name) ?? [])));
    const handlers = new Set(onFailure.flatMap(({ step }) => indexes.get(step) ?? []));
    const starts = new Set(startsOf(work).flatMap(({ step }) => indexes.get(step) ?? []));
    return [
      ...next.map((to) => ({ from, to, kind: "transition" as const })),
      ...[...handlers].map((to) => ({ from, to, kind: "failure" as const })),
      ...[...starts].map((to) => ({ from, to, kind: "fork" as const })),
    ];
  });
}

/**
 * Walks depth-first from the first step. It does not recurse, because with a long chain of steps the recursion would be as deep as the chain is long.
 */
function reversePostorder(outgoing: readonly (readonly Edge[])[]): number[] {
  if (outgoing.length === 0) return [];
  const finished: number[] = [];
  const seen = new Set([0]);
  const path = [{ step: 0, tried: 0 }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const next = outgoing[top.step]?.[top.tried++];
    if (next === undefined) {
      finished.push(top.step);
      path.pop();
    } else if (!seen.has(next.to)) {
      seen.add(next.to);
      path.push({ step: next.to, tried: 0 });
    }
  }
  return finished.reverse();
}
