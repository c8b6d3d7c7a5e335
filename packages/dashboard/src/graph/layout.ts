import dagre from "@dagrejs/dagre";
import type { Graph, GraphEdge, GraphNode } from "./graph.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y` are of its upper left corner. */
export interface PlacedNode extends GraphNode, Point {
  readonly width: number;
  readonly height: number;
}

export interface DrawnEdge extends GraphEdge {
  readonly points: readonly Point[];
  /** It ends where it meets another line to the same step, which has the arrow. */
  readonly isBranch: boolean;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly DrawnEdge[];
  readonly width: number;
  readonly height: number;
}

const stepSize = { width: 252, height: 58 };
const dotSize = { width: 56, height: 24 };
const gap = { beside: 36, below: 40 };
/**
 * The layout gives a long edge a place in every row that it passes, and takes minutes where 500 steps all lead to one that minds failures.
 * Beyond so many rows passed in all, the longest edges are led around the outside by ourselves.
 */
const maxRowsPassed = 300;
/** The better of two ways to choose rows takes half a second for 500 steps, the other one a tenth. */
const manyNodes = 80;

/** Where everything goes, from the top down. Pure: the same graph gives the same picture. */
export function layoutOf(graph: Graph): Layout {
  const placing = new dagre.graphlib.Graph({ multigraph: true });
  const ranker = graph.nodes.length > manyNodes ? "longest-path" : "network-simplex";
  placing.setGraph({ rankdir: "TB", ranker, nodesep: gap.beside, ranksep: gap.below, marginx: 8, marginy: 8 });
  placing.setDefaultEdgeLabel(() => ({}));
  for (const { id, kind } of graph.nodes) placing.setNode(id, { ...(isDot(kind) ? dotSize : stepSize) });
  const near = nearEdges(graph);
  for (const { from, to, id } of near) placing.setEdge(from, to, {}, id);
  if (graph.nodes.length > 0) dagre.layout(placing);

  const nodes = graph.nodes.map((node): PlacedNode => {
    const { x, y, width, height } = placing.node(node.id) as Required<Rectangle>;
    return { ...node, x: x - width / 2, y: y - height / 2, width, height };
  });
  const { width = 0, height = 0 } = placing.graph() as Partial<Rectangle>;
  const around = ledAround(graph, near, nodes, width);
  const edges = graph.edges.map((edge): DrawnEdge => {
    const led = around.get(edge);
    if (led !== undefined) return led;
    const { points } = placing.edge({ v: edge.from, w: edge.to, name: edge.id }) as { points: Point[] };
    return { ...edge, points, isBranch: false };
  });
  return { nodes, edges, width: around.size > 0 ? width + 2 * gap.beside : width, height };
}

type Rectangle = Point & { readonly width: number; readonly height: number };

function isDot(kind: GraphNode["kind"]): boolean {
  return kind === "start" || kind === "end";
}

/** Of each node one edge to it from the row above, so that it has its place; then the shortest, up to the bound. */
function nearEdges({ edges, ranks }: Graph): ReadonlySet<GraphEdge> {
  const near = new Set<GraphEdge>();
  const span = ({ from, to }: GraphEdge) => Math.abs((ranks.get(to) ?? 0) - (ranks.get(from) ?? 0));
  const placed = new Set<string>();
  for (const edge of edges) {
    if (edge.isBack || span(edge) > 1 || placed.has(edge.to)) continue;
    placed.add(edge.to);
    near.add(edge);
  }
  let rowsPassed = 0;
  for (const edge of edges.toSorted((one, other) => span(one) - span(other))) {
    if (near.has(edge)) continue;
    rowsPassed += span(edge);
    if (rowsPassed > maxRowsPassed) break;
    near.add(edge);
  }
  return near;
}

/**
 * Out to the right, along beside everything, and in again. Lines to the same step run together: the longest from above and the longest from
 * below lead there, the others into them.
 */
function ledAround(
  { edges }: Graph,
  near: ReadonlySet<GraphEdge>,
  nodes: readonly PlacedNode[],
  width: number,
): ReadonlyMap<GraphEdge, DrawnEdge> {
  const places = new Map(nodes.map((node) => [node.id, node]));
  const around = edges.flatMap((edge) => {
    const from = places.get(edge.from);
    const to = places.get(edge.to);
    if (near.has(edge) || from === undefined || to === undefined) return [];
    const lane = width + gap.beside / 2 + (edge.kind === "failure" ? 0 : gap.beside / 2);
    const start = { x: from.x + from.width, y: from.y + from.height / 2 };
    const end = { x: to.x + to.width, y: to.y + to.height / 2 };
    return [{ edge, points: [start, { x: lane, y: start.y }, { x: lane, y: end.y }, end], rise: end.y - start.y }];
  });
  const drawn = new Map<GraphEdge, DrawnEdge>();
  const together = Map.groupBy(around, ({ edge, rise }) => `${edge.to} ${edge.kind} ${rise > 0}`);
  for (const lines of together.values()) {
    const longest = Math.max(...lines.map(({ rise }) => Math.abs(rise)));
    let hasTrunk = false;
    for (const { edge, points, rise } of lines) {
      const isTrunk: boolean = !hasTrunk && Math.abs(rise) === longest;
      hasTrunk ||= isTrunk;
      drawn.set(edge, { ...edge, points: isTrunk ? points : points.slice(0, 2), isBranch: !isTrunk });
    }
  }
  return drawn;
}
