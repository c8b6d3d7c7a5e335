import type { ListedJob } from "../../api/jobs.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { formatDuration } from "../../parts/words/duration.ts";
import { deploySample, submitSample } from "../../parts/words/first-commands.ts";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { shownStatus } from "../../parts/words/shown-status.ts";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import "../../parts/layout/Panel.css";
import "./JobTable.css";
import type { JobSearch } from "./job-search.ts";
import type { LiveList } from "./live-list.ts";
import { useLiveJobs } from "./use-live-jobs.ts";

interface JobTableProps {
  readonly organizationId: string;
  readonly search: JobSearch;
  readonly onClear: () => void;
}

export function JobTable({ organizationId, search, onClear }: JobTableProps) {
  const { list, error, more, refetch, showLatest, isOld } = useLiveJobs(organizationId, search);
  const showChanges = () => {
    showLatest();
    window.scrollTo({ top: 0 });
  };
  return (
    <section className="panel panel-flush" aria-label={texts.jobs.caption}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {list === undefined && error === null && <Skeleton rows={12} />}
      {list !== undefined && <Changes list={list} isOld={isOld} onShow={showChanges} />}
      {list?.jobs.length === 0 && <Nothing hasFilters={Object.keys(search).length > 0} onClear={onClear} />}
      {list !== undefined && list.jobs.length > 0 && (
        <Table
          caption={texts.jobs.caption}
          columns={columnsFor(organizationId, list.goneIds)}
          rows={list.jobs}
          rowKey={({ jobId }) => jobId}
          more={more}
        />
      )}
    </section>
  );
}

interface ChangesProps {
  readonly list: LiveList;
  /** True when the service could not be asked for the present state, so the list may be old. */
  readonly isOld: boolean;
  readonly onShow: () => void;
}

/** The line that says what is new. It takes the same space when nothing is new, so that the page does not move. It stays in view during scrolling. */
function Changes({ list: { newCount, goneIds }, isOld, onShow }: ChangesProps) {
  const words = texts.jobs;
  const isCurrent = newCount === 0 && goneIds.size === 0;
  return (
    <div className="job-changes">
      <p role="status" className={isCurrent && !isOld ? "soft" : undefined}>
        {!isCurrent ? words.changes(newCount, goneIds.size) : isOld ? words.old : words.upToDate}
      </p>
      {!isCurrent && (
        <Button kind="main" onClick={onShow}>
          {words.show}
        </Button>
      )}
    </div>
  );
}

function Nothing({ hasFilters, onClear }: { readonly hasFilters: boolean; readonly onClear: () => void }) {
  const words = texts.jobs;
  if (!hasFilters) {
    return <EmptyState title={words.emptyTitle} text={words.empty} command={`${deploySample}\n${submitSample}`} />;
  }
  return (
    <EmptyState title={words.noneFound} text={words.noneFoundText}>
      <div>
        <Button onClick={onClear}>{words.clear}</Button>
      </div>
    </EmptyState>
  );
}

function columnsFor(organizationId: string, goneIds: ReadonlySet<string>): readonly Column<ListedJob>[] {
  const words = texts.jobs;
  return [
    {
      id: "job",
      header: words.job,
      cell: (job) => (
        <>
          <JobLink organizationId={organizationId} job={job} />{" "}
          <span className="soft mono job-id">{job.jobId.slice(-6)}</span>
        </>
      ),
    },
    {
      id: "status",
      header: texts.jobs.status,
      width: "124px",
      cell: (job) => (
        <span
          className={goneIds.has(job.jobId) ? "job-gone" : undefined}
          title={goneIds.has(job.jobId) ? words.goneRow : undefined}
        >
          <StatusBadge status={shownStatus(job)} />
        </span>
      ),
    },
    {
      id: "at",
      header: words.at,
      width: "34%",
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: (job) => {
        const text = placeOf(job);
        return text === "" ? text : <span title={text}>{text}</span>;
      },
    },
    {
      id: "version",
      header: words.version,
      width: "84px",
      isOptional: true,
      isSelfEvident: true,
      cell: ({ workflowVersion }) => words.versionNumber(workflowVersion.versionNumber),
    },
    {
      id: "submitted",
      header: words.submitted,
      width: "104px",
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
    {
      id: "took",
      header: words.took,
      width: "120px",
      align: "end",
      isOptional: true,
      cell: ({ createdAt, finishedAt }) =>
        finishedAt !== undefined && formatDuration(Date.parse(finishedAt) - Date.parse(createdAt)),
    },
  ];
}

/** Describes where the job is: its step, the events that it waits for, or its error. */
function placeOf({ stepName, awaitingEventIds, error }: ListedJob): string {
  const words = texts.jobs;
  if (error !== undefined) return `${error.step}: ${words.failedWith(error.code, error.message)}`;
  if (stepName === undefined) return "";
  return awaitingEventIds === undefined ? stepName : `${stepName}: ${words.awaits(awaitingEventIds)}`;
}
