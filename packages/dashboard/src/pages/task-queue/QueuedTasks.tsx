import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { type QueuedTask, type QueueKey, queuedTasksQuery } from "../../api/task-queues.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { ListPanel } from "../../parts/data/ListPanel.tsx";
import type { Column } from "../../parts/data/Table.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";

interface QueuedTasksProps {
  readonly queue: QueueKey;
  readonly status: QueuedTask["status"];
}

/**
 * The tasks of a queue: those that workers hold, or those that wait. The list updates itself until the reader goes beyond its
 * first page.
 */
export function QueuedTasks({ queue, status }: QueuedTasksProps) {
  const words = texts.taskQueue;
  const { title, caption, emptyTitle, empty } = words[status];
  const queries = useQueryClient();
  const options = queuedTasksQuery(queue, status);
  const query = useInfiniteQuery(options);
  const isReadOn = (query.data?.pages.length ?? 0) > 1;
  return (
    <ListPanel
      title={title}
      caption={caption}
      query={query}
      rows={query.data?.pages.flatMap((page) => page.tasks)}
      rowKey={({ taskId }) => taskId}
      columns={[...jobColumns(queue.organizationId), ...(status === "held" ? heldColumns : waitingColumns)]}
      empty={<EmptyState title={emptyTitle} text={empty} />}
      actions={
        isReadOn && (
          <div className="row">
            <span className="soft">{words.asItWas}</span>
            <Button onClick={() => void queries.resetQueries({ queryKey: options.queryKey })}>
              {words.showLatest}
            </Button>
          </div>
        )
      }
    />
  );
}

const words = texts.taskQueue;

function jobColumns(organizationId: string): readonly Column<QueuedTask>[] {
  return [
    { id: "job", header: words.job, cell: (task) => <JobLink organizationId={organizationId} job={task} /> },
    {
      id: "step",
      header: words.step,
      cell: ({ step, branch }) => {
        const text = branch === "" ? step : words.inBranch(step, branch);
        return <span title={text}>{text}</span>;
      },
    },
  ];
}

const heldColumns: readonly Column<QueuedTask>[] = [
  { id: "worker", header: words.worker, isOptional: true, cell: ({ worker }) => <span title={worker}>{worker}</span> },
  {
    id: "progress",
    header: words.progress,
    cell: ({ progress }) => {
      if (progress === undefined) return null;
      const text = JSON.stringify(progress);
      return (
        <code className="soft" title={text}>
          {text}
        </code>
      );
    },
  },
  {
    id: "lease",
    header: words.leaseEnds,
    width: "104px",
    align: "end",
    isOptional: true,
    cell: ({ leaseUntil }) => <Time at={leaseUntil} isRelative />,
  },
];

const waitingColumns: readonly Column<QueuedTask>[] = [
  {
    id: "priority",
    header: words.priority,
    width: "84px",
    align: "end",
    isOptional: true,
    cell: ({ priority }) => priority,
  },
  { id: "due", header: words.due, width: "104px", align: "end", cell: ({ dueAt }) => <Time at={dueAt} isRelative /> },
];
