import type { TaskQueue } from "../../api/task-queues.ts";
import { Icon } from "../../parts/layout/Icon.tsx";
import { texts } from "../../texts/texts.ts";
import "../../parts/words/StatusBadge.css";

/** Says why tasks of a queue are not done, if the reason is known: the queue is paused, or no worker asks for tasks. */
export function QueueBadge({ queue: { pausedAt, waitingCount, workerCount } }: { readonly queue: TaskQueue }) {
  const words = texts.taskQueues;
  if (pausedAt !== undefined) {
    return (
      <span className="status-badge">
        <Icon name="stop" />
        {words.paused}
      </span>
    );
  }
  if (waitingCount === 0 || workerCount > 0) return null;
  return (
    <span className="status-badge status-waiting" title={words.noWorkerText}>
      <Icon name="alert" />
      {words.noWorker}
    </span>
  );
}
