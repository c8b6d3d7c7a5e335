import dagre from "@dagrejs/dagre";
import type { Graph, GraphEdge, GraphLane, GraphNode } from "./graph.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A node with its place: `x` and `y` are those of its upper left corner. */
export interface PlacedNode extends GraphNode, Point {
  readonly width: number;
  readonly height: number;
}

export interface DrawnEdge extends GraphEdge {
  readonly points: readonly Point[];
  /** The words beside or on the line, and the place of their middle. */
  readonly label?: { readonly text: string } & Point;
  /** True if the line ends where it meets another line to the same step. Only that other line has an arrow. */
  readonly joinsAnother: boolean;
}

/** The frame around a step with its branches, or the lane of one branch. */
export interface PlacedFrame extends Point {
  readonly id: string;
  readonly kind: "fork" | "lane";
  /** The name of the branch, for a lane. Undefined for the lane of a forEach body, and for the frame around a fork. */
  readonly label: string | undefined;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly DrawnEdge[];
  /** The outer frames first. */
  readonly frames: readonly PlacedFrame[];
  readonly width: number;
  readonly height: number;
}

const stepSize = { width: 252, height: 58 };
const dotSize = { width: 56, height: 24 };
const gap = { beside: 36, below: 40 };
/** The space that a label needs. The average width of letters in ordinary words is at most `perCharacter`. */
const labelSize = { perCharacter: 7, padding: 12, height: 20 };
/**
 * The layout gives a long edge a place in every row that the edge passes. Without this limit, that would take minutes when 500 steps all lead to one
 * step for failures. One edge for each node is not counted. When the other edges together pass more rows than this, the longest ones are led around
 * the outside.
 */
const maxRowsPassed = 300;
/**
 * For more nodes than this, the faster of two ways to choose rows is used. The better one takes half a second for 500 steps, the faster one a tenth
 * of a second.
 */
const manyNodes = 80;

/** Returns the place of everything, from top to bottom. The function is pure: the same graph gives the same picture. */
export function layoutOf(graph: Graph): Layout {
  const placing = new dagre.graphlib.Graph({ multigraph: true });
  const ranker = graph.nodes.length > manyNodes ? "longest-path" : "network-simplex";
  placing.setGraph({ rankdir: "TB", ranker, nodesep: gap.beside, ranksep: gap.below, marginx: 8, marginy: 8 });
  placing.setDefaultEdgeLabel(() => ({}));
  const forks = new Map([...graph.lanes].map(([id, lanes]) => [id, forkLayout(id, lanes)]));
  for (const { id, kind } of graph.nodes) {
    const { width, height } = forks.get(id) ?? (isDot(kind) ? dotSize : stepSize);
    placing.setNode(id, { width, height });
  }
  const near = nearEdges(graph);
  for (const edge of near) placing.setEdge(edge.from, edge.to, roomFor(labelOf(edge)), edge.id);
  if (graph.nodes.length > 0) dagre.layout(placing);

  const boxes = graph.nodes.map((node): PlacedNode => {
    const { x, y, width, height } = placing.node(node.id) as Required<Rectangle>;
    return { ...node, x: x - width / 2, y: y - height / 2, width, height };
  });
  const { width = 0, height = 0 } = placing.graph() as Partial<Rectangle>;
  const around = ledAround(graph, near, boxes, width);
  const edges = graph.edges.map((edge): DrawnEdge => {
    const led = around.get(edge);
    if (led !== undefined) return led;
    const { points, x, y } = placing.edge({ v: edge.from, w: edge.to, name: edge.id }) as Point & { points: Point[] };
    const text = labelOf(edge);
    return { ...edge, points, joinsAnother: false, ...(text !== "" && { label: { text, x, y } }) };
  });
  const inner = boxes.flatMap((box) => {
    const fork = forks.get(box.id);
    return fork === undefined ? [] : [movedBy(fork, box)];
  });
  return {
    nodes: boxes.flatMap((box) => {
      const fork = forks.get(box.id);
      if (fork === undefined) return [box];
      const width = Math.min(box.width - 2 * frame.padding, maxForkWidth);
      const top = { x: box.x + (box.width - width) / 2, y: box.y + frame.padding, width, height: stepSize.height };
      return [{ ...box, ...top }, ...movedBy(fork, box).nodes];
    }),
    edges: [...edges, ...inner.flatMap((fork) => fork.edges)],
    frames: inner.flatMap(({ frames }) => frames),
    width: around.size > 0 ? width + 2 * gap.beside : width,
    height,
  };
}

const frame = { padding: 14, labelHeight: 26 };
/** A step with branches is as wide as its branches, up to this width, since it shows more than other steps. */
const maxForkWidth = 400;

/** Places the branches of a step side by side below it, each in a lane of its own. The step itself is at the top, and is not among the nodes. */
function forkLayout(fork: string, lanes: readonly GraphLane[]): Layout {
  const { padding, labelHeight } = frame;
  const layouts = lanes.map((lane) => ({ lane, layout: layoutOf(lane.graph) }));
  const widths = layouts.map(({ layout }) => Math.max(layout.width, stepSize.width) + 2 * padding);
  const lanesWidth = widths.reduce((sum, width) => sum + width, padding * (lanes.length - 1));
  const laneHeight = Math.max(...layouts.map(({ layout }) => layout.height)) + labelHeight + padding;
  const top = padding + stepSize.height + gap.below;
  const width = Math.max(lanesWidth, stepSize.width) + 2 * padding;
  const height = top + laneHeight + padding;
  const from = { x: width / 2, y: padding + stepSize.height };
  const drawn = layouts.map(({ lane, layout }, index): Layout => {
    const before = widths.slice(0, index).reduce((sum, one) => sum + one + padding, 0);
    const left = (width - lanesWidth) / 2 + before;
    const laneWidth = widths[index] ?? 0;
    const inner = movedBy(layout, { x: left + (laneWidth - layout.width) / 2, y: top + labelHeight });
    const id = `${fork} lane ${index}`;
    const own = { id, kind: "lane", label: lane.name, x: left, y: top, width: laneWidth, height: laneHeight } as const;
    const first = inner.nodes.find(({ label }) => label === lane.step);
    const edges = first === undefined ? inner.edges : [wayInto(fork, first, from, top), ...inner.edges];
    return { ...inner, edges, frames: [own, ...inner.frames] };
  });
  const own = { id: fork, kind: "fork", label: undefined, x: 0, y: 0, width, height } as const;
  return {
    nodes: drawn.flatMap(({ nodes }) => nodes),
    edges: drawn.flatMap(({ edges }) => edges),
    frames: [own, ...drawn.flatMap(({ frames }) => frames)],
    width,
    height,
  };
}

/** Draws the line from a step to the first step of one of its branches. */
function wayInto(fork: string, first: PlacedNode, from: Point, laneTop: number): DrawnEdge {
  const x = first.x + first.width / 2;
  const between = (from.y + laneTop) / 2;
  const points = [from, { x: from.x, y: between }, { x, y: between }, { x, y: first.y }];
  const way = { from: fork, to: first.id, kind: "branch" } as const;
  return { ...way, id: `${fork} branch ${first.id}`, on: [], isBack: false, joinsAnother: false, points };
}

function movedBy(layout: Layout, { x, y }: Point): Layout {
  const moved = <Place extends Point>(place: Place): Place => ({ ...place, x: place.x + x, y: place.y + y });
  return {
    ...layout,
    nodes: layout.nodes.map(moved),
    frames: layout.frames.map(moved),
    edges: layout.edges.map(({ label, points, ...edge }) => ({
      ...edge,
      points: points.map(moved),
      ...(label !== undefined && { label: moved(label) }),
    })),
  };
}

type Rectangle = Point & { readonly width: number; readonly height: number };

/** Returns the words of a line, shortened. The list of steps, and the tooltip of the label, show the whole text. */
function labelOf({ on }: GraphEdge): string {
  const [first = "", ...more] = on.map((text) => text.replaceAll(/\s+/g, " ").trim());
  const characters = [...first];
  const shown = characters.length > maxLabelLength ? `${characters.slice(0, maxLabelLength - 1).join("")}…` : first;
  return more.length === 0 ? shown : `${shown} +${more.length}`;
}

const maxLabelLength = 26;

/** The layout keeps this much space on the line for its label, so that no two labels overlap. */
function roomFor(label: string): { readonly width?: number; readonly height?: number; readonly labelpos?: string } {
  if (label === "") return {};
  const { perCharacter, padding, height } = labelSize;
  return { width: label.length * perCharacter + padding, height, labelpos: "c" };
}

function isDot(kind: GraphNode["kind"]): boolean {
  return kind === "start" || kind === "end";
}

/**
 * Chooses the edges that the layout places. For each node it chooses one edge from the row above, which gives the node its place. Then it adds the
 * shortest of the other edges, as long as these pass at most `maxRowsPassed` rows together.
 */
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
 * Leads the edges that are not in `near` out to the right, past all steps, and in again. Lines of one kind to one step are joined: of the lines from
 * above only the longest reaches the step, and the others end in that line. The same is done with the lines from below.
 */
function ledAround(
  { edges }: Graph,
  near: ReadonlySet<GraphEdge>,
  nodes: readonly PlacedNode[],
  width: number,
): ReadonlyMap<GraphEdge, DrawnEdge> {
  const places = new Map(nodes.map((node) => [node.id, node]));
  const labelCounts = new Map<string, number>();
  const around = edges.flatMap((edge) => {
    const from = places.get(edge.from);
    const to = places.get(edge.to);
    if (near.has(edge) || from === undefined || to === undefined) return [];
    const lane = width + gap.beside / 2 + (edge.kind === "failure" ? 0 : gap.beside / 2);
    const start = { x: from.x + from.width, y: from.y + from.height / 2 };
    const end = { x: to.x + to.width, y: to.y + to.height / 2 };
    const text = labelOf(edge);
    const count = labelCounts.get(edge.from) ?? 0;
    if (text !== "") labelCounts.set(edge.from, count + 1);
    // The labels of a step stand where its lines leave it: the first above that place, the second below it, the next above the first, and so on.
    const shift = (Math.floor(count / 2) + 0.5) * labelSize.height * (count % 2 === 0 ? -1 : 1);
    const label = { text, x: start.x + Number(roomFor(text).width ?? 0) / 2, y: start.y + shift };
    const labelled = text === "" ? edge : { ...edge, label };
    const points = [start, { x: lane, y: start.y }, { x: lane, y: end.y }, end];
    return [{ edge, labelled, points, rise: end.y - start.y }];
  });
  const drawn = new Map<GraphEdge, DrawnEdge>();
  const together = Map.groupBy(around, ({ edge, rise }) => `${edge.to} ${edge.kind} ${rise > 0}`);
  for (const lines of together.values()) {
    const longest = Math.max(...lines.map(({ rise }) => Math.abs(rise)));
    let hasTrunk = false;
    for (const { edge, labelled, points, rise } of lines) {
      const isTrunk: boolean = !hasTrunk && Math.abs(rise) === longest;
      hasTrunk ||= isTrunk;
      drawn.set(edge, { ...labelled, points: isTrunk ? points : points.slice(0, 2), joinsAnother: !isTrunk });
    }
  }
  return drawn;
}
