import { type Node, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from "react";
import "@xyflow/react/dist/base.css";
import "./GraphCanvas.css";
import { titleOf, useExecutors } from "../api/executors.ts";
import { texts } from "../texts/texts.ts";
import { GraphButtons } from "./GraphButtons.tsx";
import { GraphEdges } from "./GraphEdges.tsx";
import { DotNode, type GraphNodeData, StepNode } from "./GraphNodes.tsx";
import { stepId } from "./graph.ts";
import type { Layout } from "./layout.ts";
import { recentLayoutOf } from "./recent-layouts.ts";
import { lanesByStep, regionOf } from "./regions.ts";
import type { StepGraphProps } from "./step-graph-props.ts";
import { placeText, transitionsText } from "./transitions-text.ts";
import { focusStep, useViewport } from "./viewport.ts";
import { follow } from "./way.ts";

const nodeTypes = { step: StepNode, dot: DotNode };
const noEdges: [] = [];
const hidden = { hideAttribution: true };

/**
 * Only the nodes in view are drawn. A node is drawn again only when its own state changes, and the edges only when the layout or the history of the
 * job changes.
 */
export function GraphCanvas(props: StepGraphProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas(props: StepGraphProps) {
  const { steps, taken, current, selected, onSelect } = props;
  const place = useRef<HTMLDivElement>(null);
  // A change of the job's state can bring a new array with the same steps. The new array gets the same layout.
  const layout = useMemo(() => recentLayoutOf(steps), [steps]);
  const { begin, bringIntoView, firstInView } = useViewport(layout, place, current);
  const cameFrom = useRef<string>(undefined);
  const [entrance, setEntrance] = useState<string | undefined>();
  const wanted = entrance ?? (selected !== undefined ? stepId(selected) : undefined) ?? firstStepOf(layout);
  const nodes = useNodes(layout, props, wanted);

  const onKeyDown = (event: KeyboardEvent) => {
    // While Alt, Control or Meta is pressed, the arrow keys belong to the browser, for example to go back.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = (event.target as HTMLElement).closest<HTMLElement>("[data-step]")?.dataset.step;
    if (from === undefined) return;
    const to = follow(layout, stepId(from), event.key, cameFrom.current);
    if (to === undefined) return;
    event.preventDefault();
    cameFrom.current = stepId(from);
    setEntrance(to);
    bringIntoView(to);
    focusStep(place, to);
  };
  const onMoveEnd = () => {
    // The keyboard can only reach steps that are drawn, so the Tab key must lead to a step in view.
    setEntrance((before) => firstInView(before ?? wanted));
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the steps in it
    <div ref={place} className="graph-canvas" onKeyDown={onKeyDown}>
      <ReactFlow
        nodes={nodes}
        edges={noEdges}
        nodeTypes={nodeTypes}
        onInit={begin}
        onMoveEnd={onMoveEnd}
        onNodeClick={(_event, { data }) => data.kind === "step" && onSelect?.(data.label)}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        zoomOnDoubleClick={false}
        // The wheel scrolls the page; with Control it zooms.
        zoomOnScroll={false}
        preventScrolling={false}
        minZoom={0.08}
        maxZoom={1.6}
        proOptions={hidden}
        aria-label={`${texts.graph.label}. ${texts.graph.keys}`}
      >
        <GraphEdges layout={layout} taken={taken} />
        <GraphButtons current={current === undefined ? undefined : stepId(current)} onShow={bringIntoView} />
      </ReactFlow>
    </div>
  );
}

type FlowNode = Node<GraphNodeData>;

function useNodes(layout: Layout, { steps, looks, selected, onSelect }: StepGraphProps, entrance: string | undefined) {
  const executors = useExecutors();
  const known = useRef(new Map<string, FlowNode>());
  const isSelectable = onSelect !== undefined;
  const reuse = useCallback((node: FlowNode) => {
    const before = known.current.get(node.id);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(node)) return before;
    known.current.set(node.id, node);
    return node;
  }, []);
  const descriptions = useMemo(() => describe(steps), [steps]);
  return useMemo(
    () =>
      layout.nodes.map(({ id, kind, label, type, x, y, width, height }) =>
        reuse({
          id,
          type: kind === "start" || kind === "end" ? "dot" : "step",
          position: { x, y },
          width,
          height,
          measured: { width, height },
          domAttributes: { "aria-roledescription": undefined },
          data: {
            kind,
            label,
            executor: titleOf(executors, type),
            description: descriptions.get(label) ?? "",
            look: looks === undefined ? undefined : (looks.get(label) ?? null),
            isSelected: kind === "step" && label === selected,
            isEntrance: id === entrance,
            isSelectable,
          },
        }),
      ),
    [layout, descriptions, looks, selected, entrance, isSelectable, executors, reuse],
  );
}

/** Returns the description of each step, for people who use a screen reader. */
function describe(steps: StepGraphProps["steps"]): ReadonlyMap<string, string> {
  const lanes = lanesByStep(regionOf(steps));
  return new Map(
    steps.map((step) => {
      const lane = lanes.get(step.name);
      const transitions = transitionsText(step, lane);
      const parts = [lane && placeText(lane), transitions !== "" && texts.graph.leadsToTransitions(transitions)];
      return [step.name, parts.filter(Boolean).join(". ")];
    }),
  );
}

function firstStepOf({ nodes }: Layout): string | undefined {
  return nodes.find(({ kind }) => kind === "step")?.id;
}
