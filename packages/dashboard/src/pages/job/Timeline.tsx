import { useRef } from "react";
import { useRowsInView } from "../../parts/data/use-rows-in-view.ts";
import { Panel } from "../../parts/layout/Panel.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { useNow } from "../../parts/words/use-now.ts";
import { texts } from "../../texts/texts.ts";
import "./Timeline.css";
import { isFinished, type JobStory, type Span } from "./job-story.ts";
import { TimelineTable } from "./TimelineTable.tsx";

interface TimelineProps {
  readonly story: JobStory;
  readonly submittedAt: string;
  readonly onSelect: (step: string, visit: number) => void;
}

/** As in Timeline.css. */
const rowPixels = 28;
const tickParts = [0, 0.25, 0.5, 0.75, 1];

/** What the job did when: a bar for each stretch of time, a row for each visit of a step. */
export function Timeline({ story, submittedAt, onSelect }: TimelineProps) {
  const words = texts.job;
  const start = Date.parse(submittedAt);
  const end = useEnd(story, start);
  return (
    <Panel title={words.timeline}>
      <Legend story={story} />
      <Rows story={story} start={start} end={end} onSelect={onSelect} />
      <div className="timeline-row timeline-ticks" aria-hidden="true">
        <span />
        <div className="timeline-track">
          {tickParts.map((part) => (
            <span key={part} style={{ left: `${part * 100}%` }}>
              {part === 0 ? "0" : formatDuration((end - start) * part)}
            </span>
          ))}
        </div>
      </div>
      <TimelineTable story={story} end={end} />
    </Panel>
  );
}

interface RowsProps {
  readonly story: JobStory;
  readonly start: number;
  readonly end: number;
  readonly onSelect: TimelineProps["onSelect"];
}

function Rows({ story: { runs, queued }, start, end, onSelect }: RowsProps) {
  const frame = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  // The first row is the time in no step.
  const count = runs.length + 1;
  const { first, end: drawnEnd } = useRowsInView({ place, frame, count, rowPixels });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section ref={frame} className="timeline-rows" tabIndex={0} aria-label={texts.job.timelineLabel}>
      <div ref={place} style={{ height: count * rowPixels }}>
        {Array.from({ length: drawnEnd - first }, (_, offset) => {
          const index = first + offset;
          const run = index === 0 ? undefined : runs[index - 1];
          return (
            <div key={run?.key ?? ""} className="timeline-row" style={{ translate: `0 ${index * rowPixels}px` }}>
              {run === undefined ? (
                <span className="soft">{texts.job.spans.queued}</span>
              ) : (
                <button type="button" title={run.name} onClick={() => onSelect(run.name, run.visit)}>
                  {run.visit > 1 ? texts.job.ofVisit(run.name, run.visit) : run.name}
                </button>
              )}
              <div className="timeline-track" aria-hidden="true">
                {drawn(run?.spans ?? queued).map((span) => (
                  <Bar key={`${span.kind} ${span.start} ${span.attempt}`} span={span} start={start} end={end} />
                ))}
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** Pauses first: a short attempt between two long ones lies above them. */
function drawn(spans: readonly Span[]): readonly Span[] {
  return [...spans].sort((one, other) => Number(one.kind !== "pause") - Number(other.kind !== "pause"));
}

function Bar({ span, start, end }: { readonly span: Span; readonly start: number; readonly end: number }) {
  const whole = Math.max(1, end - start);
  const until = span.end ?? end;
  const left = ((span.start - start) / whole) * 100;
  const width = ((until - span.start) / whole) * 100;
  return (
    <span
      className={`timeline-bar ${lookOf(span)}`}
      style={{ left: `min(${left}%, 100% - 3px)`, width: `max(${width}%, 3px)` }}
      title={texts.job.spanText(texts.job.spans[span.kind], formatDuration(until - span.start))}
    />
  );
}

/** Only of what there is to see. */
function Legend({ story: { runs, queued } }: { readonly story: JobStory }) {
  const spans = [...queued, ...runs.flatMap((run) => run.spans)];
  const looks = new Map(spans.map((span) => [lookOf(span), textOf(span)]));
  return (
    <ul className="timeline-legend">
      {[...looks].map(([look, text]) => (
        <li key={look}>
          <span className={`timeline-bar ${look}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

function lookOf({ kind, outcome }: Span): string {
  return `timeline-${kind} timeline-${kind === "attempt" ? (outcome ?? "open") : "open"}`;
}

function textOf({ kind, outcome }: Span): string {
  const words = texts.job;
  return kind === "attempt" ? words.spanOutcomes[outcome ?? "open"] : words.spans[kind];
}

/** A finished job's time stands still. */
function useEnd({ status, finishedAt }: JobStory, start: number): number {
  const now = useNow(isFinished(status) ? 60_000 : 1_000);
  return Math.max(start + 1, finishedAt === undefined ? now : Date.parse(finishedAt));
}
