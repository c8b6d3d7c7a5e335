import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import type { JobKey } from "../../api/job.ts";
import { jobPagesQuery, type ListedJob } from "../../api/jobs.ts";
import { usePermission } from "../../api/permissions.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { shownStatus } from "../../parts/words/shown-status.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import "./Items.css";
import { runWords } from "./branch-words.ts";
import { isFinished, type JobStory } from "./job-story.ts";
import type { StepRun } from "./step-run.ts";

/** The jobs that steps of a job started, as far as they are loaded. */
export interface ChildJobs {
  /** The jobs; undefined until the first ones are loaded. */
  readonly rows: readonly ListedJob[] | undefined;
  readonly query: Pick<
    UseInfiniteQueryResult,
    "error" | "refetch" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
  >;
}

/** Reads the jobs that steps of this job started. Undefined if no step starts a job, and for people who may not list jobs. */
export function useChildJobs(
  { organizationId, jobId }: JobKey,
  { status }: JobStory,
  types: ReadonlyMap<string, string>,
): ChildJobs | undefined {
  const mayList = usePermission(organizationId, "job:list");
  const isShown = mayList && [...types.values()].includes(jobType);
  const query = useInfiniteQuery({
    ...jobPagesQuery(organizationId, { parentJobId: jobId }),
    enabled: isShown,
    // A reader who comes back must see the present state of the child jobs.
    gcTime: 0,
    // Child jobs continue by themselves, and this job's history does not show their changes.
    refetchInterval: isFinished(status) ? 30_000 : 3_000,
  });
  return isShown ? { rows: query.data?.pages.flatMap(({ jobs }) => jobs), query } : undefined;
}

const jobType = "/service/job";

export function childrenOf(children: ChildJobs | undefined, { name, visit, branch }: StepRun): readonly ListedJob[] {
  return (children?.rows ?? []).filter(
    ({ parentJob }) => parentJob?.step === name && parentJob.visit === visit && (parentJob.branch ?? "") === branch,
  );
}

interface ChildrenProps {
  readonly organizationId: string;
  readonly story: JobStory;
  readonly childJobs: ChildJobs;
}

/** The jobs that steps of this job started, the newest first, each as a link with its state. */
export function Children({ organizationId, story, childJobs: { rows, query } }: ChildrenProps) {
  const words = texts.job.children;
  if (rows?.length === 0) return null;
  return (
    <Panel title={words.title} isFlush>
      {query.error !== null && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {rows === undefined && query.error === null && <Skeleton rows={3} />}
      {rows !== undefined && (
        <Table
          caption={words.caption}
          columns={columnsFor(organizationId, story)}
          rows={rows}
          rowKey={({ jobId }) => jobId}
        />
      )}
      {query.hasNextPage && (
        <div className="items-end">
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {words.more}
          </Button>
        </div>
      )}
    </Panel>
  );
}

function columnsFor(organizationId: string, story: JobStory): readonly Column<ListedJob>[] {
  const words = texts.job;
  return [
    { id: "job", header: words.children.job, cell: (job) => <JobLink organizationId={organizationId} job={job} /> },
    {
      id: "status",
      header: words.state,
      width: "124px",
      cell: (job) => <StatusBadge status={shownStatus(job)} />,
    },
    {
      id: "step",
      header: words.children.begunBy,
      width: "30%",
      isOptional: true,
      cell: ({ parentJob }) => {
        if (parentJob === undefined) return "";
        const { step: name, visit, branch = "" } = parentJob;
        const text = runWords(story, { name, visit, branch });
        return <span title={text}>{text}</span>;
      },
    },
    {
      id: "since",
      header: words.children.since,
      width: "148px",
      align: "end",
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}
