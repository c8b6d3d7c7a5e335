import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobsQuery, type ListedJob } from "../../api/jobs.ts";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { JobLink } from "../../parts/JobLink.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { Problem } from "../../parts/Problem.tsx";
import { Skeleton } from "../../parts/Skeleton.tsx";
import { type Column, Table } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { texts } from "../../texts/texts.ts";

const shownCount = 5;
const search = { status: "FAILED" } as const;

/** What broke, the latest first, with the reason beside it. */
export function FailedJobs({ organizationId }: { readonly organizationId: string }) {
  const { home } = texts;
  const { data, error, refetch } = useQuery(jobsQuery(organizationId, { ...search, pageSize: shownCount }));
  const jobs = data?.jobs;
  return (
    <Panel
      title={home.failedJobs}
      isFlush
      actions={
        <Link to="/app/organizations/$organizationId/jobs" params={{ organizationId }} search={search}>
          {home.seeAll}
          <span className="visually-hidden">: {home.failedJobs}</span>
        </Link>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {jobs === undefined && error === null && <Skeleton rows={4} />}
      {jobs?.length === 0 && <EmptyState title={home.nothingFailed} text={home.nothingFailedText} />}
      {jobs !== undefined && jobs.length > 0 && (
        <Table
          caption={home.failedJobsCaption}
          columns={columnsFor(organizationId)}
          rows={jobs}
          rowKey={({ jobId }) => jobId}
        />
      )}
    </Panel>
  );
}

function columnsFor(organizationId: string): Column<ListedJob>[] {
  const { home } = texts;
  return [
    {
      id: "workflow",
      header: home.workflow,
      width: "30%",
      cell: (job) => <JobLink organizationId={organizationId} job={job} />,
    },
    {
      id: "error",
      header: home.error,
      cell: ({ error }) =>
        error !== undefined && (
          <span title={home.failedIn(error.code, error.step, error.message)}>
            {home.failedIn(error.code, error.step, error.message)}
          </span>
        ),
    },
    {
      id: "ended",
      header: home.ended,
      width: "20%",
      align: "end",
      isOptional: true,
      cell: ({ finishedAt }) => <Time at={finishedAt} isRelative />,
    },
  ];
}
