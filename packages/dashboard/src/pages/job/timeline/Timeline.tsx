import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { useRowsInView } from "../../../parts/data/use-rows-in-view.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { formatDuration } from "../../../parts/words/duration.ts";
import { useNow } from "../../../parts/words/use-now.ts";
import { texts } from "../../../texts/texts.ts";
import "./Timeline.css";
import { branchWords, runWords } from "../branch-words.ts";
import type { JobPageSearch } from "../job-page-search.ts";
import { isFinished, isOfItem, type JobStory } from "../job-story.ts";
import type { Span, StepRun } from "../step-run.ts";
import { TimelineButtons } from "./TimelineButtons.tsx";
import { TimelineTable } from "./TimelineTable.tsx";
import { type TimeWindow, ticksOf } from "./timeline-ticks.ts";

interface TimelineProps {
  readonly story: JobStory;
  readonly submittedAt: string;
  /** The run that is selected. */
  readonly selected: StepRun | undefined;
  readonly onSelect: (search: JobPageSearch) => void;
}

/** The height of a row. Timeline.css sets the same height. */
const rowPixels = 28;

/** The job over time: a bar for each stretch of time, a row for each visit of a step. */
export function Timeline({ story, submittedAt, selected = story.current, onSelect }: TimelineProps) {
  const words = texts.job;
  const start = Date.parse(submittedAt);
  const end = useEnd(story, start);
  // Undefined means the whole time of the job, which grows while the job runs.
  const [chosen, setChosen] = useState<TimeWindow | undefined>();
  const window = chosen ?? { from: 0, to: end - start };
  return (
    <Panel
      title={words.timeline}
      actions={
        <TimelineButtons
          window={window}
          wholeMs={end - start}
          step={selected && { from: selected.start - start, to: (selected.end ?? end) - start }}
          onChange={setChosen}
        />
      }
    >
      <Legend story={story} />
      <Rows
        story={story}
        start={start + window.from}
        end={start + window.to}
        now={end}
        selected={selected}
        onSelect={onSelect}
      />
      <Ticks window={window} />
      <TimelineTable story={story} end={end} />
    </Panel>
  );
}

function Ticks({ window }: { readonly window: TimeWindow }) {
  return (
    <div className="timeline-row timeline-ticks" aria-hidden="true">
      <span />
      <div className="timeline-track">
        {ticksOf(window).map(({ at, text }) => {
          const part = (at - window.from) / (window.to - window.from);
          const side = part < 0.05 ? "timeline-tick-first" : part > 0.95 ? "timeline-tick-last" : undefined;
          return (
            <span key={at} className={side} style={{ left: `${part * 100}%` }}>
              {text}
            </span>
          );
        })}
      </div>
    </div>
  );
}

interface RowsProps {
  readonly story: JobStory;
  /** The beginning and the end of the window. */
  readonly start: number;
  readonly end: number;
  /** Spans that have not ended are drawn up to this time: the end of the job, or the present. */
  readonly now: number;
  readonly selected: StepRun | undefined;
  readonly onSelect: TimelineProps["onSelect"];
}

function Rows({ story, start, end, now, selected, onSelect }: RowsProps) {
  const { runs, queued } = story;
  const frame = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  // The first row shows the times in which the job was pending.
  const count = runs.length + 1;
  const { first, end: drawnEnd } = useRowsInView({ place, frame, count, rowPixels });
  useRowInSight(frame, 1 + runs.findIndex(({ key }) => key === selected?.key));
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
                <button
                  type="button"
                  title={titleOf(story, run)}
                  aria-current={run.key === selected?.key}
                  onClick={() => onSelect(addressOf(story, run))}
                >
                  {runWords(story, run)}
                </button>
              )}
              <div className="timeline-track" aria-hidden="true">
                {drawn(run?.spans ?? queued, start, end).map((span) => (
                  <Bar key={`${span.kind} ${span.start} ${span.attempt}`} {...{ span, start, end, now }} />
                ))}
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}

function titleOf(story: JobStory, { name, branch }: StepRun): string {
  return branch === "" ? name : texts.job.ofRun(name, branchWords(story, branch));
}

/**
 * Returns the address that selects a run. A run inside of an item is selected together with its branch. For other runs the branch is left out,
 * because the graph shows the steps of named branches side by side.
 */
function addressOf(story: JobStory, { name, visit, branch }: StepRun): JobPageSearch {
  return { step: name, visit, ...(isOfItem(story, branch) && { branch }) };
}

/** At first, the row of the selected step is in view. If there are many rows, it is in the middle. */
function useRowInSight(frame: RefObject<HTMLElement | null>, row: number): void {
  const isPlaced = useRef(false);
  useLayoutEffect(() => {
    if (frame.current === null || row === 0 || isPlaced.current) return;
    isPlaced.current = true;
    frame.current.scrollTop = (row + 0.5) * rowPixels - frame.current.clientHeight / 2;
  }, [frame, row]);
}

/** Returns the spans in the window. Pauses come first, so that a short attempt between two long pauses is drawn over them. */
function drawn(spans: readonly Span[], start: number, end: number): readonly Span[] {
  const shown = spans.filter((span) => span.start <= end && (span.end ?? end) >= start);
  return shown.sort((one, other) => Number(one.kind !== "pause") - Number(other.kind !== "pause"));
}

interface BarProps extends Pick<RowsProps, "start" | "end" | "now"> {
  readonly span: Span;
}

function Bar({ span, start, end, now }: BarProps) {
  const whole = Math.max(1, end - start);
  const until = span.end ?? now;
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

/** The legend shows only the kinds of time that the timeline has. */
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

function useEnd({ status, finishedAt }: JobStory, start: number): number {
  const now = useNow(isFinished(status) ? 60_000 : 1_000);
  return Math.max(start + 1, finishedAt === undefined ? now : Date.parse(finishedAt));
}
