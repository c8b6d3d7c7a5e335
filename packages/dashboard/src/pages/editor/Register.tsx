import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { usePermission } from "../../api/permissions.ts";
import { useOnce } from "../../api/use-once.ts";
import { type NewVersion, registerVersion, type WorkflowKey, workflowQueryKey } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Quoted } from "../../parts/words/Quoted.tsx";
import { SubmitJobDialog } from "../../submit/SubmitJobDialog.tsx";
import { texts } from "../../texts/texts.ts";
import { MoveTagDialog } from "../workflow/MoveTagDialog.tsx";
import type { Checked } from "./checked.ts";

interface RegisterProps {
  readonly workflow: WorkflowKey;
  readonly name: string;
  readonly text: string;
  readonly checked: Checked;
  /** Called with the text that was registered, because the user may have typed more since then. */
  readonly onRegistered: (text: string) => void;
}

/** Registers the text as a version, and then asks what to do with that version. */
export function Register({ workflow, name, text, checked, onRegistered }: RegisterProps) {
  const words = texts.editor;
  const queries = useQueryClient();
  const mayRegister = usePermission(workflow.organizationId, "workflow:version:create");
  const maySubmit = usePermission(workflow.organizationId, "job:submit");
  const [made, setMade] = useState<NewVersion | undefined>();
  const [next, setNext] = useState<"ask" | "tag" | "submit" | undefined>();
  const once = useOnce();
  const register = useMutation({
    mutationFn: (definition: string) => once(definition, (header) => registerVersion(workflow, definition, header)),
    onSuccess: async (version, definition) => {
      setMade(version);
      setNext("ask");
      onRegistered(definition);
      await queries.invalidateQueries({ queryKey: [...workflowQueryKey(workflow), "versions"] });
    },
  });
  if (!mayRegister) return null;
  return (
    <>
      {register.error !== null && <Problem error={register.error} />}
      <Button
        kind="main"
        icon="check"
        disabled={checked.isValid !== true}
        isBusy={register.isPending}
        onClick={() => register.mutate(text)}
      >
        {words.register}
      </Button>
      {made !== undefined && next === "ask" && (
        <Registered
          version={made}
          onTag={() => setNext("tag")}
          onSubmit={maySubmit ? () => setNext("submit") : undefined}
          onClose={() => setNext(undefined)}
        />
      )}
      {made !== undefined && next === "tag" && (
        // The dialog closes when the tag is moved, or when the user cancels. In both cases the user may want to submit a job next.
        <MoveTagDialog workflow={workflow} move={{ versionId: made.versionId }} onClose={() => setNext("ask")} />
      )}
      {made !== undefined && next === "submit" && (
        <SubmitJobDialog
          workflow={workflow}
          name={name}
          versionId={made.versionId}
          onClose={() => setNext(undefined)}
        />
      )}
    </>
  );
}

interface RegisteredProps {
  readonly version: NewVersion;
  readonly onTag: () => void;
  readonly onSubmit: (() => void) | undefined;
  readonly onClose: () => void;
}

function Registered({ version: { versionNumber, warnings }, onTag, onSubmit, onClose }: RegisteredProps) {
  const words = texts.editor;
  return (
    <Dialog isOpen onClose={onClose} title={words.registeredTitle(versionNumber)} description={words.registeredText}>
      {warnings.length > 0 && (
        <section className="stack">
          <h3>{words.registeredWarnings}</h3>
          <ul>
            {warnings.map(({ pointer, detail }) => (
              <li key={`${pointer} ${detail}`}>
                <code>{pointer}</code> <Quoted text={detail} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <div className="dialog-actions">
        <Button kind="quiet" onClick={onClose}>
          {words.goOn}
        </Button>
        <Button icon="tag" onClick={onTag}>
          {words.tagIt}
        </Button>
        {onSubmit !== undefined && (
          <Button kind="main" icon="job" onClick={onSubmit}>
            {words.submitIt}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
