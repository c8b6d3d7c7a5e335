import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type TaskQueue, taskQueuesQuery } from "../../api/task-queues.ts";
import { ListPanel } from "../../parts/data/ListPanel.tsx";
import type { Column } from "../../parts/data/Table.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Permitted } from "../../parts/states/Permitted.tsx";
import { startWorker, submitTask } from "../../parts/words/first-commands.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { QueueBadge } from "./QueueBadge.tsx";

/** The queues of tasks for workers, each with the numbers of its tasks and workers, and with the time at which the oldest task became due. */
export function TaskQueuesPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const words = texts.taskQueues;
  return (
    <>
      <PageHeading title={words.title} docs="taskQueues" />
      <Permitted organizationId={organizationId} permission="task-queue:read" title={words.title}>
        <TaskQueues organizationId={organizationId} />
      </Permitted>
    </>
  );
}

function TaskQueues({ organizationId }: { readonly organizationId: string }) {
  const words = texts.taskQueues;
  const query = useInfiniteQuery(taskQueuesQuery(organizationId));
  return (
    <ListPanel
      title={words.title}
      caption={words.caption}
      query={query}
      rows={query.data?.pages.flatMap((page) => page.queues)}
      rowKey={({ queue }) => queue}
      columns={columnsFor(organizationId)}
      empty={
        <>
          <EmptyState title={words.emptyTitle} text={words.empty} command={startWorker} />
          <EmptyState title={words.submitTitle} text={words.submit} command={submitTask} />
        </>
      }
    />
  );
}

function columnsFor(organizationId: string): readonly Column<TaskQueue>[] {
  const words = texts.taskQueues;
  return [
    {
      id: "queue",
      header: words.queue,
      cell: (found) => (
        <>
          <Link
            to="/app/organizations/$organizationId/task-queues/$queue"
            params={{ organizationId, queue: found.queue }}
          >
            {found.queue}
          </Link>{" "}
          <QueueBadge queue={found} />
        </>
      ),
    },
    {
      id: "waiting",
      header: words.waiting,
      width: "88px",
      align: "end",
      cell: ({ waitingCount }) => words.count(waitingCount),
    },
    {
      id: "oldest",
      header: words.oldest,
      width: "112px",
      align: "end",
      cell: ({ oldestDueAt }) => <Time at={oldestDueAt} isRelative />,
    },
    {
      id: "held",
      header: words.held,
      width: "112px",
      align: "end",
      isOptional: true,
      cell: ({ heldCount }) => words.count(heldCount),
    },
    {
      id: "workers",
      header: words.workers,
      width: "112px",
      align: "end",
      isOptional: true,
      cell: ({ workerCount }) => words.count(workerCount),
    },
  ];
}
