import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { usePermission } from "../../api/permissions.ts";
import { taskQueueQuery, type WholeTaskQueue } from "../../api/task-queues.ts";
import { Facts } from "../../parts/data/Facts.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Permitted } from "../../parts/states/Permitted.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { QueueBadge } from "../task-queues/QueueBadge.tsx";
import { PauseQueue } from "./PauseQueue.tsx";
import { QueuedTasks } from "./QueuedTasks.tsx";
import { Workers } from "./Workers.tsx";

/** One queue of tasks: its waiting and held tasks, its workers, and the button that pauses it. */
export function TaskQueuePage() {
  const key = useParams({ from: "/app/organizations/$organizationId/task-queues/$queue" });
  const { organizationId } = key;
  const mayRead = usePermission(organizationId, "task-queue:read");
  const mayPause = usePermission(organizationId, "task-queue:update");
  const { data: queue, error, refetch } = useQuery({ ...taskQueueQuery(key), enabled: mayRead });
  return (
    <>
      <PageHeading
        title={key.queue}
        docs="taskQueues"
        tab={[queue?.pausedAt && texts.taskQueues.paused, key.queue, texts.taskQueues.title]}
        beside={queue && <QueueBadge queue={queue} />}
        actions={queue && mayPause && <PauseQueue organizationId={organizationId} queue={queue} />}
      />
      <Permitted organizationId={organizationId} permission="task-queue:read" title={key.queue}>
        {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
        {queue === undefined && error === null && <Skeleton rows={8} />}
        {queue !== undefined && <WholeQueue organizationId={organizationId} queue={queue} />}
      </Permitted>
    </>
  );
}

interface WholeQueueProps {
  readonly organizationId: string;
  readonly queue: WholeTaskQueue;
}

function WholeQueue({ organizationId, queue }: WholeQueueProps) {
  const words = texts.taskQueue;
  const { count } = texts.taskQueues;
  const { pausedAt, pausedBy } = queue;
  const key = { organizationId, queue: queue.queue };
  return (
    <>
      <Panel title={words.now}>
        <Facts
          facts={[
            [words.waitingCount, count(queue.waitingCount)],
            [words.oldest, <Time key="oldest" at={queue.oldestDueAt} isRelative />],
            [words.heldCount, count(queue.heldCount)],
            [words.workerCount, count(queue.workerCount)],
            ...(pausedAt === undefined || pausedBy === undefined
              ? []
              : [
                  [
                    words.pausedSince,
                    <span key="paused">
                      <Time at={pausedAt} isRelative /> {words.by}{" "}
                      <ActorName organizationId={organizationId} actor={pausedBy} />
                    </span>,
                  ] as const,
                ]),
          ]}
        />
      </Panel>
      <Workers workers={queue.workers} />
      <QueuedTasks queue={key} status="held" />
      <QueuedTasks queue={key} status="waiting" />
    </>
  );
}
