import { actorOf } from "../../auth/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import { setQueuePaused } from "../../store/jobs/task-queues.ts";
import type { QueueKey } from "../../store/jobs/tasks.ts";
import type { CallerAct, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { transactOnce } from "../act/repetition.ts";

export interface QueueParts extends ManagementParts {
  readonly engine: ManagementParts["engine"] & Pick<Engine, "noteQueue">;
}

/** Pauses a queue, so that its tasks are not handed out, or resumes it. Workers keep the tasks that they hold. */
export async function updateTaskQueue(
  parts: QueueParts,
  act: CallerAct,
  key: QueueKey,
  isPaused: boolean,
): Promise<void> {
  const { organizationId, queue } = key;
  await transactOnce(parts, act, { organizationId }, async (transaction) => {
    const by = actorOf(act.caller);
    const isChanged = await setQueuePaused(transaction, key, isPaused ? { at: parts.engine.now(), by } : null);
    const details = { paused: isPaused };
    const target = { organizationId, targetType: "taskQueue", targetId: queue, details } as const;
    if (isChanged) await recordAudit(transaction, parts.engine, act, target);
    return {};
  });
  parts.engine.noteQueue(key);
}
