import { useMemo } from "react";
import "../parts/controls/Button.css";
import "./StepList.css";
import { titleOf, useExecutors } from "../api/executors.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/layout/Icon.tsx";
import { useIsNarrow } from "../parts/layout/use-is-narrow.ts";
import { texts } from "../texts/texts.ts";
import { ProgressBar } from "./ProgressBar.tsx";
import { lanesByStep, regionOf } from "./regions.ts";
import type { StepGraphProps } from "./step-graph-props.ts";
import { lookText, type StepLook, stepIcons } from "./step-look.ts";
import { placeText, transitionsText } from "./transitions-text.ts";

/** The graph in words, in the order of the definition. */
export function StepList({ steps, looks, selected, onSelect }: StepGraphProps) {
  const { graph } = texts;
  const executors = useExecutors();
  const isNarrow = useIsNarrow();
  const lanes = useMemo(() => lanesByStep(regionOf(steps)), [steps]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div className="step-list" tabIndex={0}>
      <table>
        <caption className="visually-hidden">{graph.label}</caption>
        <thead>
          <tr>
            <th scope="col">{graph.step}</th>
            {looks !== undefined && <th scope="col">{graph.state}</th>}
            {!isNarrow && <th scope="col">{graph.leadsTo}</th>}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => {
            const lane = lanes.get(step.name);
            return (
              <tr key={step.name} className={classNames(step.name === selected && "step-list-selected")}>
                <th scope="row">
                  {onSelect === undefined ? (
                    step.name
                  ) : (
                    <button
                      type="button"
                      className="text-button"
                      aria-pressed={step.name === selected}
                      onClick={() => onSelect(step.name)}
                    >
                      {step.name}
                    </button>
                  )}
                  <span className="soft">{titleOf(executors, step.type)}</span>
                  {lane !== undefined && <span className="soft">{placeText(lane)}</span>}
                  {isNarrow && <span className="soft">{graph.leadsToTransitions(transitionsText(step, lane))}</span>}
                </th>
                {looks !== undefined && (
                  <td>
                    <State look={looks.get(step.name)} />
                  </td>
                )}
                {!isNarrow && <td className="soft">{transitionsText(step, lane)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function State({ look }: { readonly look: StepLook | undefined }) {
  const status = look?.status ?? "idle";
  return (
    <>
      <span className={`step-state step-${status}`}>
        <Icon name={stepIcons[status]} />
        {look === undefined ? texts.graph.status.idle : lookText(look)}
      </span>
      {look?.progress !== undefined && <ProgressBar progress={look.progress} />}
    </>
  );
}
