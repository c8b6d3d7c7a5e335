import { useState } from "react";
import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";

const latestCount = 12;

/** Every transition; at first the latest. */
export function History({ entries }: { readonly entries: readonly HistoryEntry[] }) {
  const words = texts.job;
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && entries.length > latestCount;
  return (
    <Panel
      title={words.history}
      isFlush
      actions={isCut && <Button onClick={() => setWhole(true)}>{words.showHistory(entries.length)}</Button>}
    >
      {entries.length === 0 ? (
        <Skeleton rows={3} />
      ) : (
        <Table
          caption={words.historyCaption}
          columns={columns}
          rows={isCut ? entries.slice(-latestCount) : entries}
          rowKey={({ sequence }) => String(sequence)}
        />
      )}
    </Panel>
  );
}

const words = texts.job;

const columns: readonly Column<HistoryEntry>[] = [
  { id: "sequence", header: words.sequence, width: "72px", isOptional: true, cell: ({ sequence }) => sequence },
  { id: "what", header: words.what, width: "30%", cell: ({ type }) => words.entries[type] },
  {
    id: "step",
    header: words.where,
    width: "20%",
    cell: ({ step, visit = 1 }) =>
      step !== undefined && <span title={step}>{visit > 1 ? words.ofVisit(step, visit) : step}</span>,
  },
  {
    id: "detail",
    header: words.detail,
    isOptional: true,
    cell: (entry) => {
      const detail = detailOf(entry);
      return <span title={detail}>{detail}</span>;
    },
  },
  { id: "when", header: words.when, width: "148px", align: "end", cell: ({ at }) => <Time at={at} /> },
];

function detailOf({ attempt, error, next, eventIds, eventId, outcome }: HistoryEntry): string {
  const parts = [
    attempt !== undefined && words.entryAttempt(attempt),
    eventId,
    outcome !== undefined && words.outcomes[outcome],
    eventIds?.join(", "),
    error !== undefined && `${error.code}: ${error.message}`,
    next !== undefined && words.entryNext(next),
  ];
  return parts.filter(Boolean).join(", ");
}
