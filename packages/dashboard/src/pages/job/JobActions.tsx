import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { cancelJob, type JobKey, resumeJob, type WholeJob } from "../../api/job.ts";
import { expectNews } from "../../api/live/job-watch.ts";
import { usePermission } from "../../api/permissions.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { toast, toastFailure } from "../../parts/toasts.ts";
import { SubmitJobDialog } from "../../submit/SubmitJobDialog.tsx";
import { texts } from "../../texts/texts.ts";
import { isFinished, type JobStory } from "./job-story.ts";

interface JobActionsProps {
  readonly jobKey: JobKey;
  readonly job: WholeJob;
  readonly story: JobStory;
}

export function JobActions({ jobKey, job, story: { status } }: JobActionsProps) {
  const mayCancel = usePermission(jobKey.organizationId, "job:cancel");
  const maySubmit = usePermission(jobKey.organizationId, "job:submit");
  return (
    <>
      {maySubmit && <RunAgain jobKey={jobKey} job={job} />}
      {mayCancel && !isFinished(status) && <Cancel jobKey={jobKey} />}
      {maySubmit && (status === "FAILED" || status === "CANCELLED") && <Resume jobKey={jobKey} />}
    </>
  );
}

/** Submits another job with the input of this one, which the user can change first. */
function RunAgain({ jobKey: { organizationId }, job }: Pick<JobActionsProps, "jobKey" | "job">) {
  const { workflowId, workflowName, workflowVersion, input } = job;
  const { versionId, tag } = workflowVersion;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="job" onClick={() => setOpen(true)}>
        {texts.job.runAgain}
      </Button>
      {isOpen && (
        <SubmitJobDialog
          workflow={{ organizationId, workflowId }}
          name={workflowName}
          versionId={versionId}
          {...(tag !== undefined && { tag })}
          input={input}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Cancel({ jobKey }: { readonly jobKey: JobKey }) {
  const words = texts.job;
  const [isAsking, setAsking] = useState(false);
  const cancel = useMutation({
    mutationFn: () => cancelJob(jobKey),
    onSuccess: () => {
      setAsking(false);
      expectNews(jobKey);
      toast({ kind: "success", text: words.cancelled });
    },
  });
  const ask = () => {
    // The error of an earlier attempt must not be shown again.
    cancel.reset();
    setAsking(true);
  };
  return (
    <>
      <Button kind="danger" icon="ban" onClick={ask}>
        {words.cancel}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={words.cancelTitle}
        description={words.cancelText}
        isBusy={cancel.isPending}
      >
        {cancel.error !== null && <Problem error={cancel.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setAsking(false)} disabled={cancel.isPending}>
            {words.keep}
          </Button>
          <Button kind="danger" isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
            {words.cancel}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

function Resume({ jobKey }: { readonly jobKey: JobKey }) {
  const words = texts.job;
  const resume = useMutation({
    mutationFn: () => resumeJob(jobKey),
    onSuccess: () => {
      expectNews(jobKey);
      toast({ kind: "success", text: words.resumed });
    },
    onError: toastFailure,
  });
  return (
    <Button kind="main" icon="retry" isBusy={resume.isPending} onClick={() => resume.mutate()}>
      {words.resume}
    </Button>
  );
}
