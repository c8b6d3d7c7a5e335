import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Submission, submitJob } from "../api/job.ts";
import { useAllPages } from "../api/use-all-pages.ts";
import { useOnce } from "../api/use-once.ts";
import { tagsQuery, versionQuery, versionsQuery, type WorkflowKey } from "../api/workflows.ts";
import { Choice } from "../parts/controls/Field.tsx";
import { Dialog } from "../parts/dialogs/Dialog.tsx";
import { Problem } from "../parts/states/Problem.tsx";
import { Skeleton } from "../parts/states/Skeleton.tsx";
import { toast } from "../parts/toasts.ts";
import { texts } from "../texts/texts.ts";
import { SubmitForm } from "./SubmitForm.tsx";

interface SubmitJobDialogProps {
  readonly workflow: WorkflowKey;
  readonly name: string;
  /**
   * The version to begin with. If it is left out, the dialog begins with the tag `$LIVE`, or else with the first tag, or else with the newest
   * version.
   */
  readonly versionId?: string | undefined;
  /** The tag to begin with. If it does not exist any more, the dialog begins with `versionId`. */
  readonly tag?: string;
  /** The input to begin with. If it is left out, the input has only the defaults of the schema. */
  readonly input?: unknown;
  readonly onClose: () => void;
}

interface Target {
  /** Identifies the entry independently of its place, since the list can grow while the user types. */
  readonly key: string;
  readonly label: string;
  readonly versionId: string;
  readonly tag?: string;
}

/** Submits a job with a tag or a version, and leads to the job's page. */
export function SubmitJobDialog({ workflow, name, versionId, tag, input, onClose }: SubmitJobDialogProps) {
  const words = texts.submit;
  const { targets, error, refetch } = useTargets(workflow);
  const [chosen, setChosen] = useState<string | undefined>();
  const orElse = versionId === undefined ? tagKey("$LIVE") : versionKey(versionId);
  const first = tag === undefined ? [orElse] : [tagKey(tag), orElse];
  const target = [chosen, ...first].map((key) => targets?.find((one) => one.key === key)).find(Boolean) ?? targets?.[0];
  const submit = useSubmit(workflow, onClose);
  const choose = (key: string) => {
    setChosen(key);
    // The error was about the version that was chosen before.
    if (submit.isError) submit.reset();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={words.title(name)}
      description={words.text}
      isWide
      isBusy={submit.isPending}
    >
      {targets === undefined && error === null && <Skeleton rows={4} />}
      {targets === undefined && error !== null && <Problem error={error} onRetry={refetch} />}
      {targets?.length === 0 && <p>{words.noVersion}</p>}
      {targets !== undefined && target !== undefined && (
        <>
          <Choice label={words.version} value={target.key} onChange={(event) => choose(event.target.value)}>
            {targets.map(({ key, label }) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </Choice>
          <Form
            workflow={workflow}
            versionId={target.versionId}
            input={input}
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
  readonly input: unknown;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (input: Submission["inputJson"]) => void;
}

function Form({ workflow, versionId, ...form }: FormProps) {
  const { data, error, refetch } = useQuery(versionQuery(workflow, versionId));
  // The user may choose another version, and a tag may be moved while the user types. The present form stays until the other version is loaded. It
  // also stays if the other version cannot be loaded.
  const [shown, setShown] = useState(data);
  if (data !== undefined && data !== shown) setShown(data);
  return (
    <>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {shown === undefined && error === null && <Skeleton rows={4} />}
      {shown !== undefined && <SubmitForm definition={shown.definition} {...form} />}
    </>
  );
}

/** The tags and versions that can be run. Tags come first, since programs submit jobs by tags. */
function useTargets(workflow: WorkflowKey) {
  const words = texts.submit;
  const tags = useQuery(tagsQuery(workflow));
  const versions = useInfiniteQuery(versionsQuery(workflow));
  useAllPages(versions);
  const error = tags.error ?? versions.error;
  const refetch = () => void Promise.all([tags.refetch(), versions.refetch()]);
  if (tags.data === undefined || versions.data === undefined) return { targets: undefined, error, refetch };
  const byTag = tags.data.map(({ tag, versionId, versionNumber }): Target => {
    return { key: tagKey(tag), label: words.byTag(tag, versionNumber), versionId, tag };
  });
  const byVersion = versions.data.pages
    .flatMap((page) => page.versions)
    .map(({ versionId, versionNumber }): Target => {
      return { key: versionKey(versionId), label: words.byVersion(versionNumber), versionId };
    });
  return { targets: [...byTag, ...byVersion], error, refetch };
}

function tagKey(tag: string): string {
  return `tag ${tag}`;
}

function versionKey(versionId: string): string {
  return `version ${versionId}`;
}

function useSubmit({ organizationId, workflowId }: WorkflowKey, onDone: () => void) {
  const navigate = useNavigate();
  const once = useOnce();
  return useMutation({
    mutationFn: ({ target, inputJson }: { readonly target: Target; readonly inputJson: Submission["inputJson"] }) => {
      const { tag, versionId } = target;
      const workflowVersion = tag === undefined ? { versionId } : { tag };
      const submission = { workflowId, workflowVersion, inputJson };
      return once(submission, (header) => submitJob(organizationId, submission, header));
    },
    onSuccess: async ({ jobId }) => {
      onDone();
      toast({ kind: "success", text: texts.submit.submitted });
      await navigate({ to: "/app/organizations/$organizationId/jobs/$jobId", params: { organizationId, jobId } });
    },
  });
}
