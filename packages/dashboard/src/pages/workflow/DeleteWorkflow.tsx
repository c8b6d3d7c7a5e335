import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, resultOf } from "../../api/api.ts";
import { type Workflow, type WorkflowKey, workflowQueryKey } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { ConfirmDialog } from "../../parts/dialogs/ConfirmDialog.tsx";
import { toast } from "../../parts/toasts.ts";
import { texts } from "../../texts/texts.ts";

interface DeleteWorkflowProps extends WorkflowKey {
  readonly workflow: Workflow;
}

export function DeleteWorkflow({ organizationId, workflowId, workflow: { name } }: DeleteWorkflowProps) {
  const words = texts.workflow;
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: async () => {
      const params = { path: { organizationId, workflowId } };
      await resultOf(api.DELETE("/organizations/{organizationId}/workflows/{workflowId}", { params }));
    },
    onSuccess: async () => {
      // The list in the cache still has the workflow, and the next page would show that list at first. So the list is removed from the cache.
      queries.removeQueries({ queryKey: ["organizations", organizationId, "workflows", "list"] });
      await navigate({ to: "/app/organizations/$organizationId/workflows", params: { organizationId } });
      queries.removeQueries({ queryKey: workflowQueryKey({ organizationId, workflowId }) });
      toast({ kind: "success", text: words.removed(name) });
    },
  });
  const ask = () => {
    // The error of an earlier attempt must not be shown again.
    remove.reset();
    setAsking(true);
  };
  return (
    <>
      <Button kind="quiet" onClick={ask}>
        {words.remove}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={words.removeTitle(name)}
        description={words.removeText}
        action={words.remove}
        isDanger
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
