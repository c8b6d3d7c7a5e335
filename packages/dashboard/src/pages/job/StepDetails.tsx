import { stepIcons } from "../../graph/step-look.ts";
import { Choice } from "../../parts/controls/Field.tsx";
import { JsonView, NoJson } from "../../parts/data/JsonView.tsx";
import { Icon } from "../../parts/layout/Icon.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import "./StepDetails.css";
import type { JobStory, Span, StepError, StepRun } from "./job-story.ts";

interface StepDetailsProps {
  readonly story: JobStory;
  readonly step: string | undefined;
  /** The latest one where it is left out. */
  readonly visit: number | undefined;
  readonly onVisit: (step: string, visit: number) => void;
}

/** One visit of one step: what went in, what came out, and every attempt. */
export function StepDetails({ story, step, visit, onVisit }: StepDetailsProps) {
  const words = texts.job;
  const runs = story.runs.filter(({ name }) => name === step);
  const run = runs.find((one) => one.visit === visit) ?? runs.at(-1);
  return (
    <Panel
      title={step ?? words.detailsTitle}
      beside={run !== undefined && <State run={run} />}
      actions={
        runs.length > 1 &&
        run !== undefined && (
          <Choice
            label={words.visits}
            value={run.visit}
            onChange={(event) => onVisit(run.name, Number(event.target.value))}
          >
            {runs.map((one) => (
              <option key={one.visit} value={one.visit}>
                {words.visitNumber(one.visit)}
              </option>
            ))}
          </Choice>
        )
      }
    >
      {run === undefined ? (
        <p className="soft">{step === undefined ? words.chooseStep : words.notReached}</p>
      ) : (
        <Run run={run} />
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

function Run({ run }: { readonly run: StepRun }) {
  const words = texts.job;
  const attempts = run.spans.filter(({ kind }) => kind !== "pause");
  return (
    <div className="step-details">
      {/* Where attempts are listed below with their errors, the last of them is this one. */}
      {run.error !== undefined && attempts.every(({ error }) => error === undefined) && <ErrorText error={run.error} />}
      {run.eventIds !== undefined && <Awaited run={run} />}
      {/* A value of its own is of another run: what was unfolded of one says nothing about the next. */}
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

function Awaited({ run: { eventIds = [], receivedEventIds, status } }: { readonly run: StepRun }) {
  const words = texts.job;
  const isHere = (eventId: string) => status === "succeeded" || receivedEventIds.includes(eventId);
  return (
    <section>
      <h3>{words.waits}</h3>
      <ul className="step-awaited">
        {eventIds.map((eventId) => (
          <li key={eventId} className={isHere(eventId) ? "step-succeeded" : "step-waiting"}>
            <Icon name={isHere(eventId) ? "check" : "hourglass"} />
            <code>{eventId}</code> {isHere(eventId) ? words.received : words.missing}
          </li>
        ))}
      </ul>
    </section>
  );
}
