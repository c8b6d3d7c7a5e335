import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Submission, submitJob } from "../api/job.ts";
import { tagsQuery, versionQuery, versionsQuery, type WorkflowKey } from "../api/workflows.ts";
import { Dialog } from "../parts/Dialog.tsx";
import { Choice } from "../parts/Field.tsx";
import { Problem } from "../parts/Problem.tsx";
import { Skeleton } from "../parts/Skeleton.tsx";
import { toast } from "../parts/toasts.ts";
import { texts } from "../texts/texts.ts";
import { SubmitForm } from "./SubmitForm.tsx";

interface SubmitJobDialogProps {
  readonly workflow: WorkflowKey;
  readonly name: string;
  /** The one to begin with; left out: what `$LIVE` points at, or the newest. */
  readonly versionId?: string | undefined;
  readonly onClose: () => void;
}

type Target = { readonly versionId: string; readonly tag?: string };

/** Submits a job of a tag or of a version, and goes to it. */
export function SubmitJobDialog({ workflow, name, versionId, onClose }: SubmitJobDialogProps) {
  const words = texts.submit;
  const targets = useTargets(workflow);
  const [chosen, setChosen] = useState<number | undefined>();
  const preferred = targets?.findIndex((one) =>
    versionId === undefined ? one.tag === "$LIVE" : isPlain(one, versionId),
  );
  const index = chosen ?? Math.max(0, preferred ?? 0);
  const target = targets?.[index];
  const submit = useSubmit(workflow, onClose);
  return (
    <Dialog isOpen onClose={onClose} title={words.title(name)} description={words.text} isWide>
      {targets === undefined && <Skeleton rows={4} />}
      {targets?.length === 0 && <p>{words.noVersion}</p>}
      {targets !== undefined && target !== undefined && (
        <>
          <Choice label={words.version} value={index} onChange={(event) => setChosen(Number(event.target.value))}>
            {targets.map((one, at) => (
              <option key={`${one.tag} ${one.versionId}`} value={at}>
                {one.label}
              </option>
            ))}
          </Choice>
          <Form
            key={target.versionId}
            workflow={workflow}
            versionId={target.versionId}
            error={submit.error}
            isBusy={submit.isPending}
            onClose={onClose}
            onSubmit={(inputJson) => submit.mutate({ target, inputJson })}
          />
        </>
      )}
    </Dialog>
  );
}

interface FormProps {
  readonly workflow: WorkflowKey;
  readonly versionId: string;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (input: Submission["inputJson"]) => void;
}

function Form({ workflow, versionId, ...form }: FormProps) {
  const { data: version, error } = useQuery(versionQuery(workflow, versionId));
  if (error !== null) return <Problem error={error} />;
  if (version === undefined) return <Skeleton rows={4} />;
  return <SubmitForm definition={version.definition} {...form} />;
}

/** What can be run: the tags first, since that is what programs submit by. */
function useTargets(workflow: WorkflowKey): readonly (Target & { readonly label: string })[] | undefined {
  const words = texts.submit;
  const { data: tags } = useQuery(tagsQuery(workflow));
  const { data } = useInfiniteQuery(versionsQuery(workflow));
  if (tags === undefined || data === undefined) return undefined;
  const versions = data.pages.flatMap((page) => page.versions);
  return [
    ...tags.map(({ tag, versionId, versionNumber }) => ({ tag, versionId, label: words.byTag(tag, versionNumber) })),
    ...versions.map(({ versionId, versionNumber }) => ({ versionId, label: words.byVersion(versionNumber) })),
  ];
}

function isPlain(target: Target, versionId: string): boolean {
  return target.tag === undefined && target.versionId === versionId;
}

function useSubmit({ organizationId, workflowId }: WorkflowKey, onDone: () => void) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ target, inputJson }: { readonly target: Target; readonly inputJson: Submission["inputJson"] }) => {
      const { tag, versionId } = target;
      const workflowVersion = tag === undefined ? { versionId } : { tag };
      return submitJob(organizationId, { workflowId, workflowVersion, inputJson });
    },
    onSuccess: async ({ jobId }) => {
      onDone();
      toast({ kind: "success", text: texts.submit.submitted });
      await navigate({ to: "/app/organizations/$organizationId/jobs/$jobId", params: { organizationId, jobId } });
    },
  });
}
