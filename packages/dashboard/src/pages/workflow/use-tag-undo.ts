import { useQueryClient } from "@tanstack/react-query";
import { isChangedMeanwhile } from "../../api/problem.ts";
import { type WorkflowKey, workflowQueryKey } from "../../api/workflows.ts";
import { toast, toastFailure } from "../../parts/toasts.ts";
import { texts } from "../../texts/texts.ts";

interface TagChange {
  readonly tag: string;
  /** The words that say what was done. */
  readonly text: string;
  /** Takes back the change. Fails if the tag was changed again meanwhile, so that only the user's own change can be taken back. */
  readonly undo: () => Promise<unknown>;
}

/** Says that a tag was changed, and for a while offers to undo the change. `refresh` asks again for everything that shows tags. */
export function useTagUndo(workflow: WorkflowKey) {
  const words = texts.workflow;
  const queries = useQueryClient();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: workflowQueryKey(workflow) });
    await queries.invalidateQueries({ queryKey: ["organizations", workflow.organizationId, "workflows", "list"] });
  };
  const takeBack = async ({ tag, undo }: TagChange) => {
    try {
      await undo();
    } catch (error) {
      if (isChangedMeanwhile(error)) toast({ kind: "failure", text: words.notUndone(tag) });
      else toastFailure(error);
    }
    await refresh();
  };
  const offerUndo = (change: TagChange) =>
    toast({
      kind: "success",
      text: change.text,
      action: { label: words.undo, run: () => void takeBack(change) },
    });
  return { offerUndo, refresh };
}
