import type { ListedJob } from "../../api/jobs.ts";
import type { Column } from "../../parts/data/Table.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { JobPanel } from "./JobPanel.tsx";

const search = { status: "RUNNING", isWaiting: true, order: "oldest" } as const;

/** The jobs that wait for a person or for another system. The one that was submitted first comes first. */
export function WaitingJobs({ organizationId }: { readonly organizationId: string }) {
  const { home } = texts;
  return (
    <JobPanel
      organizationId={organizationId}
      title={home.needsYou}
      caption={home.needsYouCaption}
      search={search}
      columns={columnsFor(organizationId)}
      empty={<EmptyState title={home.nothingWaits} text={home.nothingWaitsText} />}
    />
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
