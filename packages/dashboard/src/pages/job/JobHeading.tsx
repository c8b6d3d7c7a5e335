import { Link } from "@tanstack/react-router";
import type { JobKey } from "../../api/job.ts";
import { CopyButton } from "../../parts/controls/CopyButton.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { CurlMenu } from "./CurlMenu.tsx";
import { JobActions } from "./JobActions.tsx";
import { JobNeighbours } from "./JobNeighbours.tsx";
import type { ShownJob } from "./use-job.ts";

interface JobHeadingProps {
  readonly jobKey: JobKey;
  readonly shown: ShownJob;
}

/** The name of the job, its status, and the buttons for what can be done with it. */
export function JobHeading({ jobKey, shown }: JobHeadingProps) {
  const { job, story, shownStatus, connection } = shown;
  const { organizationId, jobId } = jobKey;
  const { workflowId, workflowName, workflowVersion } = job;
  const { finishedAt } = story;
  const words = texts.job;
  return (
    <>
      <PageHeading
        title={workflowName}
        docs="job"
        tab={[texts.status[shownStatus], workflowName, jobId.slice(-6)]}
        beside={
          // This text is announced to users of screen readers whenever it changes.
          <span role="status">
            <StatusBadge status={shownStatus} />
          </span>
        }
        actions={
          <>
            <JobNeighbours jobKey={jobKey} />
            <CurlMenu jobKey={jobKey} job={job} story={story} />
            <JobActions jobKey={jobKey} job={job} story={story} />
          </>
        }
      />
      <div className="job-meta">
        <span className="row">
          <span className="mono" title={jobId}>
            {jobId}
          </span>
          <CopyButton text={jobId} label={words.copyId} isIconOnly />
        </span>
        <span>
          <Link
            to="/app/organizations/$organizationId/workflows/$workflowId/versions/$versionId"
            params={{ organizationId, workflowId, versionId: workflowVersion.versionId }}
          >
            {words.version(workflowVersion.versionNumber)}
          </Link>
          {workflowVersion.tag !== undefined && ` ${words.byTag(workflowVersion.tag)}`}
        </span>
        <span>
          {words.submitted} <Time at={job.createdAt} /> (
          <ActorName organizationId={organizationId} actor={job.submittedBy} />)
        </span>
        {job.parentJob !== undefined && (
          <span>
            {words.begunBy}{" "}
            <Link
              to="/app/organizations/$organizationId/jobs/$jobId"
              params={{ organizationId, jobId: job.parentJob.jobId }}
              search={{ step: job.parentJob.step, visit: job.parentJob.visit, ...branchOf(job.parentJob) }}
            >
              {words.stepOfAnother(job.parentJob.step)}
            </Link>
          </span>
        )}
        {finishedAt !== undefined && (
          <span>{words.took(formatDuration(Date.parse(finishedAt) - Date.parse(job.createdAt)))}</span>
        )}
        <span className={`job-connection job-connection-${connection}`}>
          <span className="job-connection-dot" aria-hidden="true" />
          {words.connection[connection]}
        </span>
      </div>
      {connection === "polling" && (
        <p className="job-connection-note" role="status">
          {words.pollingText}
        </p>
      )}
    </>
  );
}

function branchOf({ branch }: { readonly branch?: string }): { readonly branch?: string } {
  return branch === undefined ? {} : { branch };
}
