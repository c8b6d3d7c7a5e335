import type { GraphBranch, GraphStep } from "./graph-step.ts";
import { type Lane, type Region, regionOf } from "./regions.ts";

export interface GraphNode {
  readonly id: string;
  /**
   * `missing`: a transition leads to this name, but no step has it. `outside`: a transition leads to this step from a branch that does not contain
   * it.
   */
  readonly kind: "start" | "step" | "end" | "missing" | "outside";
  readonly label: string;
  readonly type: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** `branch`: from a step to the beginning of one of its branches. */
  readonly kind: "transition" | "failure" | "branch";
  /** The errors, or the conditions of a choice, that lead to this transition. The list is empty if all errors do, or if there is no choice. */
  readonly on: readonly string[];
  /** True if the edge leads back to a step where the job was before, so that it forms a loop. */
  readonly isBack: boolean;
}

/** The main line of a workflow, or one branch. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** For each node: the number of nodes before it on the longest way to it. Edges that lead back are left out. */
  readonly ranks: ReadonlyMap<string, number>;
  /** The branches of the steps that have some, by the id of the step's node. */
  readonly lanes: ReadonlyMap<string, readonly GraphLane[]>;
}

export interface GraphLane extends GraphBranch {
  readonly graph: Graph;
}

const startId = "start";
const endId = "end";

export function stepId(name: string): string {
  return `step ${name}`;
}

/** Returns the name of a node's step; empty if the node's id was not made by `stepId`. */
export function nameOf(id: string): string {
  return id.startsWith(stepId("")) ? id.slice(stepId("").length) : "";
}

/** Returns the key of a transition between two steps. An empty name stands for the beginning or the end. */
export function wayKey(from: string, to: string, kind: GraphEdge["kind"] = "transition"): string {
  return JSON.stringify([from, to, kind]);
}

/** Makes the graph of steps and transitions, with a node for the beginning and one for the end. */
export function graphOf(steps: readonly GraphStep[]): Graph {
  if (steps.length === 0) return { nodes: [], edges: [], ranks: new Map(), lanes: new Map() };
  return graphOfRegion(regionOf(steps), new Set(steps.map(({ name }) => name)));
}

/** Ends of branches, and names that belong to no step of the branch, get a different id in each branch. */
function graphOfRegion({ steps, first = "", lanes }: Region, names: ReadonlySet<string>, lane?: Lane): Graph {
  const own = new Set(steps.map(({ name }) => name));
  const suffix = lane === undefined ? "" : ` of ${JSON.stringify([lane.fork, lane.name])}`;
  const idOf = (name: string | null) => {
    if (name === null) return `${endId}${suffix}`;
    const isDrawnOnce = own.has(name) || (lane === undefined && !names.has(name));
    return isDrawnOnce ? stepId(name) : `outside ${name}${suffix}`;
  };
  const nodes = new Map<string, GraphNode>();
  if (lane === undefined) nodes.set(startId, { id: startId, kind: "start", label: "", type: "" });
  for (const { name, type } of steps) nodes.set(idOf(name), { id: idOf(name), kind: "step", label: name, type });
  const targets = new Map<string, string | null>([[idOf(first), first]]);
  const ways: Way[] = lane === undefined ? [{ from: startId, to: idOf(first), kind: "transition", on: [] }] : [];
  for (const { name, next, onFailure } of steps) {
    ways.push(...nextWays(idOf(name), next, idOf), ...failureWays(idOf(name), onFailure, idOf));
    for (const { step } of [...next, ...onFailure]) targets.set(idOf(step), step);
  }
  for (const [id, name] of targets) {
    if (nodes.has(id)) continue;
    const kind = name === null ? "end" : names.has(name) ? "outside" : "missing";
    nodes.set(id, { id, kind, label: name ?? "", type: "" });
  }
  const inner = [...lanes].map(([fork, branches]) => {
    const drawn = branches.map(({ name, step, ...branch }) => ({
      name,
      step,
      graph: graphOfRegion(branch.region, names, { name, step, ...branch }),
    }));
    return [idOf(fork), drawn] as const;
  });
  return { ...ranked([...nodes.values()], ways), lanes: new Map(inner) };
}

type Way = Pick<GraphEdge, "from" | "to" | "kind" | "on">;
type IdOf = (step: string | null) => string;

/** Draws one edge to each place to which conditions lead, even if several conditions lead there. */
function nextWays(from: string, next: GraphStep["next"], idOf: IdOf): Way[] {
  const byPlace = Map.groupBy(next, ({ step }) => idOf(step));
  return [...byPlace].map(([to, ways]) => {
    return { from, to, kind: "transition", on: ways.flatMap(({ condition }) => condition ?? []) };
  });
}

/** Draws one edge to each step to which failures lead, even if several entries name it. */
function failureWays(from: string, onFailure: GraphStep["onFailure"], idOf: IdOf): Way[] {
  const byStep = Map.groupBy(onFailure, ({ step }) => step);
  return [...byStep].map(([step, entries]) => {
    const isForEvery = entries.some(({ on }) => on.length === 0);
    return { from, to: idOf(step), kind: "failure", on: isForEvery ? [] : entries.flatMap(({ on }) => on) };
  });
}

/** Computes the ranks. The search is depth-first and not recursive. An edge to a node that is still open leads back. */
function ranked(nodes: readonly GraphNode[], ways: readonly Way[]): Omit<Graph, "lanes"> {
  const outgoing = Map.groupBy(ways, ({ from }) => from);
  const state = new Map<string, "open" | "done">();
  const back = new Set<Way>();
  const order: string[] = [];
  for (const { id } of nodes) {
    if (state.has(id)) continue;
    const path = [{ id, tried: 0 }];
    state.set(id, "open");
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const way = outgoing.get(top.id)?.[top.tried++];
      if (way === undefined) {
        state.set(top.id, "done");
        order.push(top.id);
        path.pop();
      } else if (state.get(way.to) === "open") back.add(way);
      else if (!state.has(way.to)) {
        state.set(way.to, "open");
        path.push({ id: way.to, tried: 0 });
      }
    }
  }
  const ranks = new Map<string, number>();
  for (const id of order.reverse()) {
    const rank = ranks.get(id) ?? 0;
    ranks.set(id, rank);
    for (const way of outgoing.get(id) ?? []) {
      if (!back.has(way)) ranks.set(way.to, Math.max(ranks.get(way.to) ?? 0, rank + 1));
    }
  }
  const edges = ways.map((way) => ({ ...way, id: `${way.from} ${way.kind} ${way.to}`, isBack: back.has(way) }));
  return { nodes, edges, ranks };
}
