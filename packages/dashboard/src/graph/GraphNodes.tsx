import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import { classNames } from "../parts/controls/class-names.ts";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import type { GraphNode } from "./graph.ts";
import { countsOf, type StepLook, stepIcons } from "./step-look.ts";

export interface GraphNodeData extends Record<string, unknown> {
  readonly kind: GraphNode["kind"];
  readonly label: string;
  /** As people call it. */
  readonly executor: string;
  /** Undefined where no job is shown, null where the job has not come to this step. */
  readonly look: StepLook | null | undefined;
  readonly isSelected: boolean;
  /** The one that the tabulator key leads to; from it arrow keys lead on. */
  readonly isEntrance: boolean;
  readonly isSelectable: boolean;
}

type Props = NodeProps<Node<GraphNodeData>>;

export const StepNode = memo(function StepNode({ data }: Props) {
  const { kind, label, executor, look, isSelected, isEntrance, isSelectable } = data;
  const { graph } = texts;
  if (kind === "missing") {
    return (
      <div className="graph-step graph-step-missing">
        <Icon name="alert" />
        <span className="graph-step-name">{label}</span>
        <span className="graph-step-type">{graph.missing}</span>
      </div>
    );
  }
  const status = look === undefined ? undefined : (look?.status ?? "idle");
  const counts = look === undefined || look === null ? "" : countsOf(look);
  return (
    <button
      type="button"
      className={classNames(
        "graph-step",
        status !== undefined && `step-${status} graph-step-${status}`,
        isSelected && "graph-step-selected",
      )}
      tabIndex={isEntrance ? 0 : -1}
      data-step={label}
      {...(isSelectable && { "aria-pressed": isSelected })}
    >
      {status !== undefined && <Icon name={stepIcons[status]} />}
      <span className="graph-step-name" title={label}>
        {label}
      </span>
      <span className="graph-step-type">
        <span className="graph-step-does">{executor}</span>
        {status !== undefined && (
          <span className="graph-step-status">
            <span className="visually-hidden">, </span>
            {graph.status[status]}
            {counts !== "" && `, ${counts}`}
          </span>
        )}
      </span>
    </button>
  );
});

export const DotNode = memo(function DotNode({ data: { kind } }: Props) {
  return <div className="graph-dot">{kind === "start" ? texts.graph.start : texts.graph.end}</div>;
});
