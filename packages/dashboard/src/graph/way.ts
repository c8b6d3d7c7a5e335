import type { GraphEdge } from "./graph.ts";
import type { Layout } from "./layout.ts";

/** Where an arrow key leads in the graph; undefined: nowhere, or no such key. */
export function follow(layout: Layout, from: string, key: string): string | undefined {
  const { edges } = layout;
  const isStep = (id: string) => layout.nodes.some((node) => node.id === id && node.kind === "step");
  const leadsTo = (edge: GraphEdge | undefined) => (edge !== undefined && isStep(edge.to) ? edge.to : undefined);
  const comesFrom = (kind: GraphEdge["kind"]) =>
    edges.filter((edge) => edge.to === from && edge.kind === kind && isStep(edge.from)).sort(forwardFirst)[0]?.from;
  switch (key) {
    case "ArrowDown":
      return leadsTo(edges.find((edge) => edge.from === from && edge.kind === "transition"));
    case "ArrowRight":
      return leadsTo(edges.find((edge) => edge.from === from && edge.kind === "failure"));
    case "ArrowUp":
      return comesFrom("transition") ?? comesFrom("failure");
    case "ArrowLeft":
      return comesFrom("failure") ?? comesFrom("transition");
    case "Home":
      return layout.nodes.find((node) => node.kind === "step")?.id;
    case "End":
      return layout.nodes.findLast((node) => node.kind === "step")?.id;
    default:
      return undefined;
  }
}

function forwardFirst(one: GraphEdge, other: GraphEdge): number {
  return Number(one.isBack) - Number(other.isBack);
}
