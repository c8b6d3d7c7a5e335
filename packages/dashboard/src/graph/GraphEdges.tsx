import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import { classNames } from "../parts/controls/class-names.ts";
import { edgePath } from "./edge-path.ts";
import { nameOf, wayKey } from "./graph.ts";
import type { Layout } from "./layout.ts";

interface GraphEdgesProps {
  readonly layout: Layout;
  readonly taken: ReadonlySet<string> | undefined;
}

/**
 * All edges in one drawing under the steps, by the points that the layout found. React Flow's own edges know only their two ends, cross what
 * lies between, and each would be an element tree of its own.
 */
export const GraphEdges = memo(function GraphEdges({ layout: { edges, width, height }, taken }: GraphEdgesProps) {
  return (
    <ViewportPortal>
      <svg className="graph-edges" width={width} height={height} aria-hidden="true">
        <defs>
          {markers.map(([id, className]) => (
            <marker
              key={id}
              id={id}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              orient="auto"
              markerUnits="userSpaceOnUse"
            >
              <path className={className} d="M0 0 8 4 0 8z" />
            </marker>
          ))}
        </defs>
        {edges.map(({ id, from, to, kind, points, isBranch }) => {
          const isTaken = isTakenWay(taken, from, to);
          const marker = kind === "failure" ? "failure" : isTaken ? "taken" : "next";
          return (
            <path
              key={id}
              className={classNames(
                "graph-edge",
                kind === "failure" && "graph-edge-failure",
                isTaken && "graph-edge-taken",
              )}
              d={edgePath(points)}
              {...(!isBranch && { markerEnd: `url(#graph-arrow-${marker})` })}
            />
          );
        })}
      </svg>
    </ViewportPortal>
  );
});

const markers = [
  ["graph-arrow-next", "graph-arrow"],
  ["graph-arrow-taken", "graph-arrow graph-arrow-taken"],
  ["graph-arrow-failure", "graph-arrow graph-arrow-failure"],
] as const;

/** Of a job: it went from the one step to the other; the ends go with their steps. */
function isTakenWay(taken: ReadonlySet<string> | undefined, from: string, to: string): boolean {
  return taken?.has(wayKey(nameOf(from), nameOf(to))) ?? false;
}
