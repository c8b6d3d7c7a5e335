/** What a graph needs to know of a step. */
export interface GraphStep {
  readonly name: string;
  /** The next step's name; null ends the job. */
  readonly transitionToStep: string | null;
  /** The step that a failure leads to. */
  readonly onFailure: string | undefined;
}

/** A way from one step to another. Steps are known by their index in the definition. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  /** A failed step has made no output. */
  readonly kind: "transition" | "failure";
}

/** The steps of a definition and the transitions between them. A transition to a name that no step has is left out. */
export interface StepGraph {
  readonly stepCount: number;
  /** By step. */
  readonly incoming: readonly (readonly Edge[])[];
  readonly outgoing: readonly (readonly Edge[])[];
  /** The steps that can be reached from the first one, each after those that lead to it, but for loops. */
  readonly order: readonly number[];
  /** The same in the opposite order. */
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
  return steps.flatMap(({ transitionToStep, onFailure }, from) => {
    const next = transitionToStep === null ? undefined : indexes.get(transitionToStep);
    const handler = onFailure === undefined ? undefined : indexes.get(onFailure);
    return [
      ...(next === undefined ? [] : [{ from, to: next, kind: "transition" as const }]),
      ...(handler === undefined ? [] : [{ from, to: handler, kind: "failure" as const }]),
    ];
  });
}

/** Depth first from the first step; without recursion, which a chain of steps would make as deep as it is long. */
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
