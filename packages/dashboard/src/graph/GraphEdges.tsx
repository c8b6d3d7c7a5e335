import { ViewportPortal } from "@xyflow/react";
import { Fragment, memo } from "react";
import { classNames } from "../parts/class-names.ts";
import { texts } from "../texts/texts.ts";
import { edgePath } from "./edge-path.ts";
import { nameOf, wayKey } from "./graph.ts";
import type { Layout } from "./layout.ts";
import { laneText } from "./transitions-text.ts";

interface GraphEdgesProps {
  readonly layout: Layout;
  readonly taken: ReadonlySet<string> | undefined;
}

/**
 * All edges in one drawing under the steps, along the points of the layout. React Flow's own edges know only their two ends, so they cross the steps
 * between these ends. Each such edge also needs a tree of elements.
 */
export const GraphEdges = memo(function GraphEdges({
  layout: { edges, frames, width, height },
  taken,
}: GraphEdgesProps) {
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
        {frames.map(({ id, kind, label, ...place }) => (
          <Fragment key={id}>
            <rect className={`graph-frame graph-frame-${kind}`} {...place} rx={10} />
            {kind === "lane" && (
              <text className="graph-lane-label" x={place.x + 12} y={place.y + 15}>
                {shortened(laneText({ name: label }), place.width)}
                <title>{laneText({ name: label })}</title>
              </text>
            )}
          </Fragment>
        ))}
        {edges.map(({ id, from, to, kind, on, points, label, joinsAnother }) => {
          const isTaken = taken?.has(wayKey(nameOf(from), nameOf(to), kind)) ?? false;
          const marker = kind === "failure" ? "failure" : isTaken ? "taken" : "next";
          return (
            <Fragment key={id}>
              <path
                className={classNames(
                  "graph-edge",
                  kind === "failure" && "graph-edge-failure",
                  isTaken && "graph-edge-taken",
                )}
                d={edgePath(points)}
                {...(!joinsAnother && { markerEnd: `url(#graph-arrow-${marker})` })}
              />
              {label !== undefined && (
                <text
                  className={classNames(
                    "graph-edge-label",
                    kind === "failure" && "graph-edge-label-failure",
                    isTaken && "graph-edge-label-taken",
                  )}
                  x={label.x}
                  y={label.y}
                >
                  {label.text}
                  <title>{texts.graph.anyOf(on)}</title>
                </text>
              )}
            </Fragment>
          );
        })}
      </svg>
    </ViewportPortal>
  );
});

/** The average width of letters in ordinary words is at most this. */
const letterWidth = 7;

function shortened(text: string, width: number): string {
  const letters = [...text];
  const room = Math.floor((width - 24) / letterWidth);
  return letters.length <= room ? text : `${letters.slice(0, room - 1).join("")}…`;
}

const markers = [
  ["graph-arrow-next", "graph-arrow"],
  ["graph-arrow-taken", "graph-arrow graph-arrow-taken"],
  ["graph-arrow-failure", "graph-arrow graph-arrow-failure"],
] as const;
