import { lazy } from "react";
import "./StepGraph.css";
import { Segments } from "../parts/controls/Segments.tsx";
import { EmptyState } from "../parts/states/EmptyState.tsx";
import { OnDemand } from "../parts/states/OnDemand.tsx";
import { texts } from "../texts/texts.ts";
import { useGraphView } from "./graph-view.ts";
import { StepList } from "./StepList.tsx";
import type { StepGraphProps } from "./step-graph-props.ts";

const Canvas = lazy(() => import("./GraphCanvas.tsx").then(({ GraphCanvas }) => ({ default: GraphCanvas })));

/**
 * The steps as a graph, or as a list for people who prefer text or cannot see the graph. Both show the same steps and transitions and offer the same
 * actions. Only the graph marks the transitions that the job took.
 */
export function StepGraph(props: StepGraphProps) {
  const [view, setView] = useGraphView();
  const { graph } = texts;
  const { steps } = props;
  const isEmpty = steps.length === 0;
  return (
    <div className="step-graph">
      <div className="step-graph-bar">
        <Segments label={graph.viewLabel} value={view} choices={views} onChoose={setView} />
        {view === "graph" && !isEmpty && <Legend hasTaken={props.taken !== undefined} />}
      </div>
      <div className="step-graph-place">
        {props.isLoading === true ? (
          <Drawing />
        ) : isEmpty ? (
          <EmptyState title={graph.noSteps} text={graph.noStepsText} />
        ) : view === "list" ? (
          <StepList {...props} />
        ) : (
          <OnDemand waiting={<Drawing />} instead={<StepList {...props} />}>
            <Canvas {...props} />
          </OnDemand>
        )}
      </div>
    </div>
  );
}

function Drawing() {
  return <p className="step-graph-wait soft">{texts.graph.drawing}</p>;
}

const views = [
  ["graph", texts.graph.graph],
  ["list", texts.graph.list],
] as const;

function Legend({ hasTaken }: { readonly hasTaken: boolean }) {
  const { graph } = texts;
  return (
    <ul className="graph-legend" aria-label={graph.legend}>
      <LegendLine className="graph-edge" text={graph.transition} />
      <LegendLine className="graph-edge graph-edge-failure" text={graph.failure} />
      {hasTaken && <LegendLine className="graph-edge graph-edge-taken" text={graph.taken} />}
    </ul>
  );
}

function LegendLine({ className, text }: { readonly className: string; readonly text: string }) {
  return (
    <li>
      <svg className="graph-legend-line" viewBox="0 0 28 8" aria-hidden="true">
        <path className={className} d="M0 4H28" />
      </svg>
      {text}
    </li>
  );
}
