import type { ListedJob } from "../../api/jobs.ts";
import type { Column } from "../../parts/data/Table.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { JobPanel } from "./JobPanel.tsx";

const search = { status: "FAILED" } as const;

/** The failed jobs, each with its reason. The one that was submitted last comes first. */
export function FailedJobs({ organizationId }: { readonly organizationId: string }) {
  const { home } = texts;
  return (
    <JobPanel
      organizationId={organizationId}
      title={home.failedJobs}
      caption={home.failedJobsCaption}
      search={search}
      columns={columnsFor(organizationId)}
      empty={<EmptyState title={home.nothingFailed} text={home.nothingFailedText} />}
    />
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
