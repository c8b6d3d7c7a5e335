import type { GraphStep } from "./graph-step.ts";

export interface GraphNode {
  readonly id: string;
  /** `missing`: a name that a way leads to and no step has. */
  readonly kind: "start" | "step" | "end" | "missing";
  readonly label: string;
  readonly type: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: "transition" | "failure";
  /** Leads back to where the job came from: a loop. */
  readonly isBack: boolean;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** How many steps lie before a node on the longest way to it. */
  readonly ranks: ReadonlyMap<string, number>;
}

const startId = "start";
const endId = "end";

export function stepId(name: string): string {
  return `step ${name}`;
}

/** Of a step's node its name; the beginning and the end have none. */
export function nameOf(id: string): string {
  return id.startsWith(stepId("")) ? id.slice(stepId("").length) : "";
}

/** Names a way between two steps that a job took. */
export function wayKey(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** Steps and ways, with a beginning and an end to them. */
export function graphOf(steps: readonly GraphStep[]): Graph {
  const [first] = steps;
  if (first === undefined) return { nodes: [], edges: [], ranks: new Map() };
  const nodes = new Map<string, GraphNode>([[startId, { id: startId, kind: "start", label: "", type: "" }]]);
  for (const { name, type } of steps) nodes.set(stepId(name), { id: stepId(name), kind: "step", label: name, type });
  const ways: Way[] = [{ from: startId, to: stepId(first.name), kind: "transition" }];
  for (const { name, next, onFailure } of steps) {
    const from = stepId(name);
    if (next !== undefined) ways.push({ from, to: next === null ? endId : stepId(next), kind: "transition" });
    if (onFailure !== undefined) ways.push({ from, to: stepId(onFailure), kind: "failure" });
  }
  for (const { to } of ways) {
    if (nodes.has(to)) continue;
    const isEnd = to === endId;
    nodes.set(to, {
      id: to,
      kind: isEnd ? "end" : "missing",
      label: nameOf(to),
      type: "",
    });
  }
  return ranked([...nodes.values()], ways);
}

interface Way {
  readonly from: string;
  readonly to: string;
  readonly kind: GraphEdge["kind"];
}

/** Depth first, without recursion: what leads to a node that is still open leads back. */
function ranked(nodes: readonly GraphNode[], ways: readonly Way[]): Graph {
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
