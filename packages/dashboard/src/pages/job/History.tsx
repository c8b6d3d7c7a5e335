import { useMemo, useState } from "react";
import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Field } from "../../parts/controls/Field.tsx";
import { download } from "../../parts/data/download.ts";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import "./History.css";
import { runWords } from "./branch-words.ts";
import { type JobStory, taskType } from "./job-story.ts";

const latestCount = 12;

interface HistoryProps {
  readonly jobId: string;
  readonly story: JobStory;
  /** The types of the steps, as far as they are known. */
  readonly types: ReadonlyMap<string, string>;
  readonly entries: readonly HistoryEntry[];
}

/** Every entry of the job's history. At first the latest ones are shown. A filter searches all of them. */
export function History({ jobId, story, types, entries }: HistoryProps) {
  const words = texts.job;
  const [isWhole, setWhole] = useState(false);
  const [filter, setFilter] = useState("");
  const shown = useMemo(
    () => (filter === "" ? entries : entries.filter((entry) => hasWord(entry, filter, story, types))),
    [entries, filter, story, types],
  );
  const isCut = !isWhole && filter === "" && entries.length > latestCount;
  const exportAll = () =>
    download(new Blob([JSON.stringify(entries, null, 2)], { type: "application/json" }), `history-${jobId}.json`);
  return (
    <Panel
      title={words.history}
      isFlush
      actions={
        <div className="row history-actions">
          <Field
            label={words.historyFilter}
            placeholder={words.historyFilterHint}
            type="search"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
          {isCut && <Button onClick={() => setWhole(true)}>{words.showHistory(entries.length)}</Button>}
          <Button icon="out" onClick={exportAll}>
            {words.exportHistory}
          </Button>
        </div>
      }
    >
      {entries.length === 0 ? (
        <Skeleton rows={3} />
      ) : shown.length === 0 ? (
        <p className="items-end soft">{words.historyNone}</p>
      ) : (
        <Table
          caption={words.historyCaption}
          columns={columnsFor(story, types)}
          rows={isCut ? entries.slice(-latestCount) : shown}
          rowKey={({ sequence }) => String(sequence)}
        />
      )}
    </Panel>
  );
}

const words = texts.job;

function columnsFor(story: JobStory, types: HistoryProps["types"]): readonly Column<HistoryEntry>[] {
  return [
    { id: "sequence", header: words.sequence, width: "72px", isOptional: true, cell: ({ sequence }) => sequence },
    { id: "what", header: words.what, width: "22%", cell: (entry) => whatOf(entry, types) },
    {
      id: "step",
      header: words.where,
      width: "20%",
      cell: (entry) => {
        const text = whereOf(entry, story);
        return <span title={text}>{text}</span>;
      },
    },
    {
      id: "detail",
      header: words.detail,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: (entry) => {
        const detail = detailOf(entry);
        return detail === "" ? detail : <span title={detail}>{detail}</span>;
      },
    },
    {
      id: "when",
      isOptional: true,
      isSelfEvident: true,
      header: words.when,
      width: "204px",
      align: "end",
      cell: ({ at }) => <Time at={at} hasMilliseconds />,
    },
  ];
}

/** Tells whether this text is in an entry's type, or in the words that the table shows for the entry. Upper and lower case count as the same. */
function hasWord(entry: HistoryEntry, word: string, story: JobStory, types: HistoryProps["types"]): boolean {
  const shown = [entry.type, whatOf(entry, types), whereOf(entry, story), detailOf(entry)].join("\n");
  return shown.toLowerCase().includes(word.toLowerCase());
}

function whereOf({ step, branch = "", visit = 1 }: HistoryEntry, story: JobStory): string {
  return step === undefined ? "" : runWords(story, { name: step, branch, visit });
}

/** Describes an entry. A worker holds a task, and a node any other call, so the texts for a lost or returned task are different. */
function whatOf({ type, step = "" }: HistoryEntry, types: HistoryProps["types"]): string {
  const isTask = types.get(step) === taskType;
  if (isTask && type === "step.interrupted") return words.spanOutcomes.workerLost;
  if (isTask && type === "step.handedBack") return words.spanOutcomes.released;
  return words.entries[type];
}

function detailOf({ attempt, branch, branchCount, error, next, eventIds, eventId, outcome }: HistoryEntry): string {
  const parts = [
    attempt !== undefined && words.entryAttempt(attempt),
    branchCount !== undefined && words.branchCount(branchCount),
    eventId,
    outcome !== undefined && words.outcomes[outcome],
    eventIds?.join(", "),
    error !== undefined && `${error.code}: ${error.message}`,
    next === null && (branch === undefined ? words.entryEnds : words.entryEndsBranch),
    typeof next === "string" && words.entryNext(next),
  ];
  return parts.filter(Boolean).join(", ");
}
