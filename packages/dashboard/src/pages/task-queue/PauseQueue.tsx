import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type TaskQueue, taskQueueQuery, taskQueuesQueryKey, updateTaskQueue } from "../../api/task-queues.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { ConfirmDialog } from "../../parts/dialogs/ConfirmDialog.tsx";
import { toast } from "../../parts/toasts.ts";
import { texts } from "../../texts/texts.ts";

interface PauseQueueProps {
  readonly organizationId: string;
  readonly queue: TaskQueue;
}

/** Pauses the queue, or resumes it, after the user has confirmed. */
export function PauseQueue({ organizationId, queue: { queue, pausedAt, waitingCount } }: PauseQueueProps) {
  const words = texts.taskQueue;
  const key = { organizationId, queue };
  const queries = useQueryClient();
  /** The change that the dialog asks about. It stays the same while the page behind the dialog is updated. */
  const [wish, setWish] = useState<"pause" | "resume" | undefined>();
  const update = useMutation({
    mutationFn: (isPaused: boolean) => updateTaskQueue(key, isPaused),
    onSuccess: async (updated, isPaused) => {
      setWish(undefined);
      queries.setQueryData(taskQueueQuery(key).queryKey, updated);
      toast({ kind: "success", text: isPaused ? words.pausedNow(queue) : words.resumedNow(queue) });
      await queries.invalidateQueries({ queryKey: taskQueuesQueryKey(organizationId) });
    },
  });
  const close = () => {
    setWish(undefined);
    update.reset();
  };
  const isPausing = wish === "pause";
  return (
    <>
      {pausedAt === undefined ? (
        <Button onClick={() => setWish("pause")}>{words.pause}</Button>
      ) : (
        <Button kind="main" onClick={() => setWish("resume")}>
          {words.resume}
        </Button>
      )}
      <ConfirmDialog
        isOpen={wish !== undefined}
        onClose={close}
        title={isPausing ? words.pauseTitle(queue) : words.resumeTitle(queue)}
        description={isPausing ? words.pauseText : words.resumeText(waitingCount)}
        action={isPausing ? words.pauseAction : words.resumeAction}
        isBusy={update.isPending}
        error={update.error}
        onConfirm={() => update.mutate(isPausing)}
      />
    </>
  );
}
