import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobsQuery, type ListedJob } from "../../api/jobs.ts";
import type { Workflow } from "../../api/workflows.ts";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { shownStatus } from "../../parts/words/shown-status.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";

interface RecentJobsProps {
  readonly organizationId: string;
  readonly workflow: Workflow;
}

const shownCount = 10;

export function RecentJobs({ organizationId, workflow: { workflowId } }: RecentJobsProps) {
  const words = texts.workflow;
  const { data, error, refetch } = useQuery(jobsQuery(organizationId, { workflowId, pageSize: shownCount }));
  const jobs = data?.jobs;
  return (
    <Panel
      title={words.recentJobs}
      isFlush
      actions={
        <Link to="/app/organizations/$organizationId/jobs" params={{ organizationId }} search={{ workflowId }}>
          {words.allJobs}
        </Link>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {jobs === undefined && error === null && <Skeleton rows={4} />}
      {jobs?.length === 0 && <EmptyState title={words.noJobs} text={words.noJobsText} />}
      {jobs !== undefined && jobs.length > 0 && (
        <Table
          caption={words.recentJobsCaption}
          columns={columnsFor(organizationId)}
          rows={jobs}
          rowKey={({ jobId }) => jobId}
        />
      )}
    </Panel>
  );
}

function columnsFor(organizationId: string): readonly Column<ListedJob>[] {
  const words = texts.workflow;
  return [
    {
      id: "job",
      header: words.job,
      cell: ({ jobId }) => (
        <Link
          to="/app/organizations/$organizationId/jobs/$jobId"
          params={{ organizationId, jobId }}
          className="mono"
          title={jobId}
        >
          {jobId.slice(-12)}
        </Link>
      ),
    },
    { id: "status", header: words.status, width: "124px", cell: (job) => <StatusBadge status={shownStatus(job)} /> },
    {
      id: "version",
      header: words.version,
      isOptional: true,
      isSelfEvident: true,
      cell: ({ workflowVersion }) => words.versionNumber(workflowVersion.versionNumber),
    },
    {
      id: "submitted",
      header: words.submitted,
      width: "112px",
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
    {
      id: "took",
      header: words.took,
      align: "end",
      isOptional: true,
      cell: ({ createdAt, finishedAt }) =>
        finishedAt !== undefined && formatDuration(Date.parse(finishedAt) - Date.parse(createdAt)),
    },
  ];
}
