import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type JobFilters, jobsQuery, type ListedJob } from "../../api/jobs.ts";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { texts } from "../../texts/texts.ts";

interface JobPanelProps {
  readonly organizationId: string;
  readonly title: string;
  readonly caption: string;
  readonly search: JobFilters;
  readonly columns: readonly Column<ListedJob>[];
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
}

const shownCount = 5;

/** The first few jobs of a kind, and a link to all of them. */
export function JobPanel({ organizationId, title, caption, search, columns, empty }: JobPanelProps) {
  const { data, error, refetch } = useQuery(jobsQuery(organizationId, { ...search, pageSize: shownCount }));
  const jobs = data?.jobs;
  return (
    <Panel
      title={title}
      isFlush
      actions={
        <Link to="/app/organizations/$organizationId/jobs" params={{ organizationId }} search={search}>
          {texts.home.seeAll}
          <span className="visually-hidden">: {title}</span>
        </Link>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {jobs === undefined && error === null && <Skeleton rows={4} />}
      {jobs?.length === 0 && empty}
      {jobs !== undefined && jobs.length > 0 && (
        <Table caption={caption} columns={columns} rows={jobs} rowKey={({ jobId }) => jobId} />
      )}
    </Panel>
  );
}
