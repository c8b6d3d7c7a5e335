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
const search = { status: "RUNNING", isWaiting: true, order: "oldest" } as const;

/** What needs a person or the world outside: whoever has waited longest comes first. */
export function WaitingJobs({ organizationId }: { readonly organizationId: string }) {
  const { home } = texts;
  const { data, error, refetch } = useQuery(jobsQuery(organizationId, { ...search, pageSize: shownCount }));
  const jobs = data?.jobs;
  return (
    <Panel
      title={home.needsYou}
      isFlush
      actions={
        <Link to="/app/organizations/$organizationId/jobs" params={{ organizationId }} search={search}>
          {home.seeAll}
          <span className="visually-hidden">: {home.needsYou}</span>
        </Link>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {jobs === undefined && error === null && <Skeleton rows={4} />}
      {jobs?.length === 0 && <EmptyState title={home.nothingWaits} text={home.nothingWaitsText} />}
      {jobs !== undefined && jobs.length > 0 && (
        <Table
          caption={home.needsYouCaption}
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
      width: "36%",
      cell: (job) => <JobLink organizationId={organizationId} job={job} />,
    },
    {
      id: "awaits",
      header: home.waitsFor,
      cell: ({ awaitingEventIds = [], stepName = "" }) => (
        <span title={home.awaits(stepName, awaitingEventIds)}>{awaitingEventIds.join(", ")}</span>
      ),
    },
    {
      id: "since",
      header: home.since,
      width: "24%",
      align: "end",
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
  ];
}
