import type { ReactNode } from "react";
import { ProgressBar } from "../../graph/ProgressBar.tsx";
import { type ForkProgress, progressText, stepIcons } from "../../graph/step-look.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Choice } from "../../parts/controls/Field.tsx";
import { JsonView, NoJson } from "../../parts/data/JsonView.tsx";
import { Icon } from "../../parts/layout/Icon.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import "./StepDetails.css";
import { branchWords } from "./branch-words.ts";
import type { JobPageSearch } from "./job-page-search.ts";
import type { JobStory } from "./job-story.ts";
import { type AwaitedState, awaitedStateOf, type Span, type StepError, type StepRun } from "./step-run.ts";

interface StepDetailsProps {
  readonly story: JobStory;
  readonly step: string | undefined;
  /** The run that is shown; undefined if there is none, for example because the job has not reached the step. */
  readonly run: StepRun | undefined;
  /** The runs of the step. The reader can choose among those that are in the same branch as `run`. */
  readonly runs: readonly StepRun[];
  /** The branch that is selected. Undefined means all branches. */
  readonly branch: string | undefined;
  readonly onSelect: (search: JobPageSearch) => void;
  /** Further parts of the page that belong to this run. */
  readonly children?: ReactNode;
}

/** One visit of one step: its input, its output, and every attempt. */
export function StepDetails({ story, step, run, runs, branch, onSelect, children }: StepDetailsProps) {
  const words = texts.job;
  const visits = run === undefined ? [] : runs.filter((one) => one.branch === run.branch);
  const choose = (visit: number) => run && onSelect({ step: run.name, visit, ...(branch !== undefined && { branch }) });
  return (
    <Panel
      title={step ?? words.detailsTitle}
      beside={run !== undefined && <State run={run} />}
      actions={
        visits.length > 1 &&
        run !== undefined && (
          <Choice label={words.visits} value={run.visit} onChange={(event) => choose(Number(event.target.value))}>
            {visits.map((one) => (
              <option key={one.visit} value={one.visit}>
                {words.visitNumber(one.visit)}
              </option>
            ))}
          </Choice>
        )
      }
    >
      {run !== undefined && run.branch !== "" && (
        <p className="row step-branch">
          <span title={run.branch}>{words.inBranch(branchWords(story, run.branch))}</span>
          {branch !== undefined && <Button onClick={() => onSelect({ step: run.name })}>{words.allBranches}</Button>}
        </p>
      )}
      {children}
      {run === undefined ? (
        <p className="soft">{step === undefined ? words.chooseStep : words.notReached}</p>
      ) : (
        <Run run={run} progress={story.progress.get(run.key)} />
      )}
    </Panel>
  );
}

function State({ run: { status } }: { readonly run: StepRun }) {
  return (
    <span className={`step-state step-${status}`}>
      <Icon name={stepIcons[status]} />
      {texts.graph.status[status]}
    </span>
  );
}

interface RunProps {
  readonly run: StepRun;
  /** The progress of the run's branches; undefined if it has none. */
  readonly progress: ForkProgress | undefined;
}

function Run({ run, progress }: RunProps) {
  const words = texts.job;
  const attempts = run.spans.filter(({ kind }) => kind !== "pause");
  return (
    <div className="step-details">
      {/* If attempts are listed below with their errors, the error is left out here, since it is that of the last attempt. */}
      {run.error !== undefined && attempts.every(({ error }) => error === undefined) && <ErrorText error={run.error} />}
      {progress !== undefined && (
        <section>
          <h3>{run.fork?.hasItems ? words.itemsTitle : words.branchesTitle}</h3>
          <ProgressBar progress={progress} />
          <p>{progressText(progress)}</p>
        </section>
      )}
      {run.eventIds !== undefined && <Awaited run={run} />}
      {run.delayEndsAt !== undefined && (
        <p>
          {words.facts.delayEndsAt} <Time at={run.delayEndsAt} />
        </p>
      )}
      {/* The key changes with the run, so that parts that the user unfolded in one run are folded in the next. */}
      <JsonView key={`input ${run.key}`} label={words.input} value={run.input} />
      {run.output === undefined ? (
        <NoJson label={words.output} text={isOver(run) ? words.noOutputAtAll : words.noOutput} />
      ) : (
        <JsonView key={`output ${run.key}`} label={words.output} value={run.output} />
      )}
      <section>
        <h3 className="step-attempts-title">{words.attempts}</h3>
        <ol className="step-attempts">
          {attempts.map((span, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts are only added
            <Attempt key={index} span={span} number={span.attempt ?? index + 1} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function isOver({ status }: StepRun): boolean {
  return status === "failed" || status === "cancelled";
}

function Attempt({ span, number }: { readonly span: Span; readonly number: number }) {
  const words = texts.job;
  const { start, end, outcome, error } = span;
  return (
    <li>
      <strong>{words.attempt(number)}</strong> <Time at={start} />
      {": "}
      {outcome === undefined ? words.underWay : words.attemptOutcomes[outcome]}
      {end !== undefined && ` (${formatDuration(end - start)})`}
      {error !== undefined && <ErrorText error={error} />}
    </li>
  );
}

function ErrorText({ error: { code, type, message } }: { readonly error: StepError }) {
  return (
    <p className="step-error">
      <strong>{type === undefined ? code : `${code}, ${type}`}</strong>: {message}
    </p>
  );
}

const awaitedLooks = {
  received: { icon: "check", className: "step-succeeded" },
  missing: { icon: "hourglass", className: "step-waiting" },
  unneeded: { icon: "minus", className: undefined },
} as const satisfies Readonly<Record<AwaitedState, object>>;

function Awaited({ run }: { readonly run: StepRun }) {
  const words = texts.job;
  return (
    <section>
      <h3>{words.waits}</h3>
      <ul className="step-awaited">
        {run.eventIds?.map((eventId) => {
          const state = awaitedStateOf(run, eventId);
          const { icon, className } = awaitedLooks[state];
          return (
            <li key={eventId} className={className}>
              <Icon name={icon} />
              <code>{eventId}</code> {words[state]}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
