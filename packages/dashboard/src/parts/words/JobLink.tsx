import { Link } from "@tanstack/react-router";
import type { ListedJob } from "../../api/jobs.ts";

interface JobLinkProps {
  readonly organizationId: string;
  readonly job: Pick<ListedJob, "jobId" | "workflowName">;
}

/** A link to a job, with the name of its workflow. The title has the job's id. */
export function JobLink({ organizationId, job: { jobId, workflowName } }: JobLinkProps) {
  return (
    <Link to="/app/organizations/$organizationId/jobs/$jobId" params={{ organizationId, jobId }} title={jobId}>
      {workflowName}
    </Link>
  );
}
