import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import type { GraphNode } from "./graph.ts";
import { ProgressBar } from "./ProgressBar.tsx";
import { lookText, progressText, type StepLook, stepIcons } from "./step-look.ts";

export interface GraphNodeData extends Record<string, unknown> {
  readonly kind: GraphNode["kind"];
  readonly label: string;
  /** The executor's title. */
  readonly executor: string;
  /** The branch that contains the step, and the transitions that lead from the step, in words. */
  readonly description: string;
  /** The look of the step in a job; undefined if no job is shown, null if the job has not reached this step. */
  readonly look: StepLook | null | undefined;
  readonly isSelected: boolean;
  /** True if the Tab key leads to this step. The arrow keys lead on from it. */
  readonly isEntrance: boolean;
  readonly isSelectable: boolean;
}

type Props = NodeProps<Node<GraphNodeData>>;

export const StepNode = memo(function StepNode({ data }: Props) {
  const { kind, label, executor, description, look, isSelected, isEntrance, isSelectable } = data;
  const { graph } = texts;
  if (kind === "missing" || kind === "outside") {
    return (
      <div className="graph-step graph-step-missing">
        <Icon name="alert" />
        <span className="graph-step-name">{label}</span>
        <span className="graph-step-type">{kind === "missing" ? graph.missing : graph.outside}</span>
      </div>
    );
  }
  const status = look === undefined ? undefined : (look?.status ?? "idle");
  const isOfMany = look?.counts !== undefined || look?.progress !== undefined;
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
      {...(description !== "" && { "aria-description": description })}
      {...(isSelectable && { "aria-pressed": isSelected })}
    >
      {status !== undefined && <Icon name={stepIcons[status]} />}
      <span className="graph-step-name" title={label}>
        {label}
      </span>
      <span className="graph-step-type">
        <span className={isOfMany ? "visually-hidden" : "graph-step-does"}>{executor}</span>
        {status !== undefined && (
          <span className="graph-step-status">
            <span className="visually-hidden">, </span>
            {look?.progress !== undefined && <span className="visually-hidden">{graph.status[status]}, </span>}
            {textOf(look ?? undefined)}
          </span>
        )}
      </span>
      {look?.progress !== undefined && <ProgressBar progress={look.progress} />}
    </button>
  );
});

function textOf(look: StepLook | undefined): string {
  if (look === undefined) return texts.graph.status.idle;
  return look.progress === undefined ? lookText(look) : progressText(look.progress);
}

export const DotNode = memo(function DotNode({ data: { kind } }: Props) {
  return <div className="graph-dot">{kind === "start" ? texts.graph.start : texts.graph.end}</div>;
});
