import "./StepList.css";
import { titleOf, useExecutors } from "../api/executors.ts";
import { classNames } from "../parts/controls/class-names.ts";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import type { GraphStep } from "./graph-step.ts";
import type { StepGraphProps } from "./step-graph-props.ts";
import { countsOf, stepIcons } from "./step-look.ts";

/** The graph in words, in the order of the definition. */
export function StepList({ steps, looks, selected, onSelect }: StepGraphProps) {
  const { graph } = texts;
  const executors = useExecutors();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div className="step-list" tabIndex={0}>
      <table>
        <caption className="visually-hidden">{graph.label}</caption>
        <thead>
          <tr>
            <th scope="col">{graph.step}</th>
            {looks !== undefined && <th scope="col">{graph.state}</th>}
            <th scope="col">{graph.leadsTo}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.name} className={classNames(step.name === selected && "step-list-selected")}>
              <th scope="row">
                {onSelect === undefined ? (
                  step.name
                ) : (
                  <button type="button" aria-pressed={step.name === selected} onClick={() => onSelect(step.name)}>
                    {step.name}
                  </button>
                )}
                <span className="soft">{titleOf(executors, step.type)}</span>
              </th>
              {looks !== undefined && (
                <td>
                  <State look={looks.get(step.name)} />
                </td>
              )}
              <td className="soft">{waysOf(step)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function State({ look }: { readonly look: Parameters<typeof countsOf>[0] | undefined }) {
  const status = look?.status ?? "idle";
  const counts = look === undefined ? "" : countsOf(look);
  return (
    <span className={`step-state step-${status}`}>
      <Icon name={stepIcons[status]} />
      {texts.graph.status[status]}
      {counts !== "" && <span className="soft">{counts}</span>}
    </span>
  );
}

function waysOf({ next, onFailure }: GraphStep): string {
  const { graph } = texts;
  const ways = [next === null ? graph.endsTheJob : next, onFailure !== undefined && graph.onFailureTo(onFailure)];
  return ways.filter(Boolean).join(", ");
}
