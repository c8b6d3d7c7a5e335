import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useOnce } from "../../api/use-once.ts";
import { registerWorkflow } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Field } from "../../parts/controls/Field.tsx";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { texts } from "../../texts/texts.ts";

/** Registers a workflow and goes to the editor, where its first version is written. */
export function NewWorkflow({ organizationId }: { readonly organizationId: string }) {
  const words = texts.editor;
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const once = useOnce();
  const create = useMutation({
    mutationFn: (sent: string) => once(sent, (header) => registerWorkflow(organizationId, sent, header)),
    onSuccess: async ({ workflowId }) => {
      await navigate({
        to: "/app/organizations/$organizationId/workflows/$workflowId/edit",
        params: { organizationId, workflowId },
      });
      await queries.invalidateQueries({ queryKey: ["organizations", organizationId, "workflows", "list"] });
    },
  });
  const open = () => {
    // The error of an earlier attempt must not be shown again.
    create.reset();
    setOpen(true);
  };
  return (
    <>
      <Button kind="main" icon="plus" onClick={open}>
        {words.newWorkflow}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={words.newWorkflow}
        description={words.newWorkflowText}
        isBusy={create.isPending}
      >
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate(name.trim());
          }}
        >
          <Field
            label={words.newWorkflowName}
            value={name}
            onChange={(event) => setName(event.target.value)}
            maxLength={256}
            autoComplete="off"
            spellCheck={false}
            required
          />
          {create.error !== null && <Problem error={create.error} />}
          <div className="dialog-actions">
            <Button onClick={() => setOpen(false)} disabled={create.isPending}>
              {texts.parts.cancel}
            </Button>
            <Button type="submit" kind="main" isBusy={create.isPending}>
              {words.create}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
