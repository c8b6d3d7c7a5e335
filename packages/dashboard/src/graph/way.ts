import type { GraphEdge } from "./graph.ts";
import type { Layout } from "./layout.ts";

/**
 * Returns the step to which an arrow key, Home or End leads in the graph; undefined for other keys, and if the key leads nowhere. Down
 * follows the first branch or transition of the step, and Right the first transition on failure. A user who comes back from one target of
 * such branches and transitions (`cameFrom`) gets to the next target, and so can reach all of them. Up and Left go back to a step from which a
 * transition or a branch leads here.
 */
export function follow(layout: Layout, from: string, key: string, cameFrom?: string): string | undefined {
  const { edges } = layout;
  const isStep = (id: string) => layout.nodes.some((node) => node.id === id && node.kind === "step");
  const leadsTo = (...kinds: readonly GraphEdge["kind"][]) => {
    const targets = kinds.flatMap((kind) =>
      edges.filter((edge) => edge.from === from && edge.kind === kind && isStep(edge.to)),
    );
    const last = targets.findIndex(({ to }) => to === cameFrom);
    return targets[(last + 1) % targets.length]?.to;
  };
  const comesFrom = (kind: GraphEdge["kind"]) =>
    edges.filter((edge) => edge.to === from && edge.kind === kind && isStep(edge.from)).sort(forwardFirst)[0]?.from;
  switch (key) {
    case "ArrowDown":
      return leadsTo("branch", "transition");
    case "ArrowRight":
      return leadsTo("failure");
    case "ArrowUp":
      return comesFrom("transition") ?? comesFrom("branch") ?? comesFrom("failure");
    case "ArrowLeft":
      return comesFrom("failure") ?? comesFrom("transition") ?? comesFrom("branch");
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
