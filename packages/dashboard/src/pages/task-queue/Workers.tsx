import type { TaskWorker } from "../../api/task-queues.ts";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { startWorker } from "../../parts/words/first-commands.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";

/** The workers that have asked for tasks within the last day. The service lists at most 100 of them. */
export function Workers({ workers }: { readonly workers: readonly TaskWorker[] }) {
  const words = texts.taskQueue;
  return (
    <Panel title={words.workersTitle} isFlush>
      {workers.length === 0 ? (
        <EmptyState title={words.noWorkersTitle} text={words.noWorkers} command={startWorker} />
      ) : (
        <Table caption={words.workersCaption} columns={columns} rows={workers} rowKey={({ worker }) => worker} />
      )}
    </Panel>
  );
}

const words = texts.taskQueue;

const columns: readonly Column<TaskWorker>[] = [
  { id: "worker", header: words.worker, cell: ({ worker }) => <span title={worker}>{worker}</span> },
  { id: "asked", header: words.askedLast, width: "30%", cell: ({ polledAt }) => <Time at={polledAt} isRelative /> },
  {
    id: "first",
    header: words.askedFirst,
    width: "22%",
    isOptional: true,
    cell: ({ firstPolledAt }) => <Time at={firstPolledAt} isRelative />,
  },
  {
    id: "holds",
    header: words.holds,
    width: "18%",
    align: "end",
    cell: ({ heldCount }) => texts.taskQueues.count(heldCount),
  },
];
