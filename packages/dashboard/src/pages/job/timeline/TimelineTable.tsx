import { useState } from "react";
import { type Column, Table } from "../../../parts/data/Table.tsx";
import { formatDuration } from "../../../parts/words/duration.ts";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { runWords } from "../branch-words.ts";
import type { JobStory } from "../job-story.ts";
import type { Span, StepRun } from "../step-run.ts";

/** The timeline in numbers. */
export function TimelineTable({ story, end }: { readonly story: JobStory; readonly end: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="timeline-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.parts.asTable}</summary>
      {isOpen && (
        <Table
          caption={texts.job.timelineLabel}
          columns={columnsUntil(story, end)}
          rows={story.runs}
          rowKey={({ key }) => key}
        />
      )}
    </details>
  );
}

function columnsUntil(story: JobStory, end: number): readonly Column<StepRun>[] {
  const words = texts.job;
  const spent = (spans: readonly Span[], kind: Span["kind"]) =>
    spans.filter((span) => span.kind === kind).reduce((sum, span) => sum + (span.end ?? end) - span.start, 0);
  const time = (ms: number) => (ms === 0 ? texts.parts.noTime : formatDuration(ms));
  return [
    {
      id: "step",
      header: words.where,
      width: "26%",
      cell: (run) => <span title={runWords(story, run)}>{runWords(story, run)}</span>,
    },
    { id: "state", header: words.state, cell: ({ status }) => texts.graph.status[status] },
    { id: "began", header: words.began, cell: ({ start }) => <Time at={start} /> },
    { id: "attempts", header: words.attempts, align: "end", cell: ({ attempts }) => attempts },
    {
      id: "attempt",
      header: words.duration,
      align: "end",
      cell: ({ start, end: ended }) => formatDuration((ended ?? end) - start),
    },
    ...(["waiting", "sleeping", "pause"] as const).map(
      (kind): Column<StepRun> => ({
        id: kind,
        header: words.spans[kind],
        align: "end",
        isOptional: true,
        cell: ({ spans }) => time(spent(spans, kind)),
      }),
    ),
  ];
}
