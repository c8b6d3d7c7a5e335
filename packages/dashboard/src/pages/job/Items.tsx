import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type BranchStatus, type JobBranch, type JobKey, jobBranchesQuery, jobQueryKey } from "../../api/job.ts";
import { ProgressBar } from "../../graph/ProgressBar.tsx";
import { progressText, type StepStatus, stepIcons } from "../../graph/step-look.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Choice } from "../../parts/controls/Field.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Icon } from "../../parts/layout/Icon.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { usePaced } from "../../parts/words/use-paced.ts";
import { texts } from "../../texts/texts.ts";
import "./Items.css";
import { branchWords } from "./branch-words.ts";
import type { JobPageSearch } from "./job-page-search.ts";
import type { JobStory } from "./job-story.ts";
import type { StepRun } from "./step-run.ts";

interface ItemsProps {
  readonly jobKey: JobKey;
  readonly story: JobStory;
  /** The run of a forEach step. */
  readonly loop: StepRun;
  /** The branch that the reader has selected. */
  readonly branch: string | undefined;
  readonly onSelect: (search: JobPageSearch) => void;
}

/** The items of a forEach step by status, the failed ones first. The list comes in pages that the reader requests. */
export function Items({ jobKey, story, loop, branch, onSelect }: ItemsProps) {
  const words = texts.job.items;
  const [status, setStatus] = useState<BranchStatus | undefined>();
  const { name: step, visit, branch: around } = loop;
  const query = useInfiniteQuery(jobBranchesQuery(jobKey, { step, visit, branch: around }, status));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useFreshItems(jobKey, loop, story);
  const first = data?.pages[0];
  const branches = data?.pages.flatMap((page) => page.branches);
  const progress = first && {
    all: first.branchCount,
    open: first.openCount,
    succeeded: first.succeededCount,
    failed: first.failedCount,
    cancelled: first.cancelledCount,
  };
  const where = branchWords(story, around);
  return (
    <Panel
      title={where === "" ? words.title(step) : words.titleIn(step, where)}
      isFlush
      actions={
        <Choice
          label={words.state}
          value={status ?? ""}
          onChange={({ target }) => setStatus(statuses.find((one) => one === target.value))}
        >
          <option value="">{words.all}</option>
          {statuses.map((one) => (
            <option key={one} value={one}>
              {words.statuses[one]}
            </option>
          ))}
        </Choice>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {branches === undefined && error === null && <Skeleton rows={4} />}
      {progress !== undefined && (
        <div className="items-progress">
          <ProgressBar progress={progress} />
          <p className="soft">{progressText(progress)}</p>
        </div>
      )}
      {branches?.length === 0 && <p className="items-end soft">{words.none}</p>}
      {branches !== undefined && branches.length > 0 && (
        <Table
          caption={words.caption(step)}
          columns={columnsFor(branch, onSelect)}
          rows={branches}
          rowKey={(one) => one.branch}
        />
      )}
      {hasNextPage && (
        <div className="items-end">
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.more}
          </Button>
        </div>
      )}
    </Panel>
  );
}

const statuses = ["failed", "open", "cancelled", "succeeded"] as const satisfies readonly BranchStatus[];

/** A branch looks like a step with this status. */
const looks: Readonly<Record<BranchStatus, StepStatus>> = {
  failed: "failed",
  open: "running",
  cancelled: "cancelled",
  succeeded: "succeeded",
};

/** A list may have thousands of items, so it is requested at most this often while the job moves. */
const askMs = 4_000;

/** Requests the items again whenever the job has moved, until the forEach step has ended. */
function useFreshItems(key: JobKey, { end }: StepRun, { sequence }: JobStory): void {
  const queries = useQueryClient();
  const { organizationId, jobId } = key;
  const paced = usePaced(end === undefined ? sequence : 0, askMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another sequence is the reason
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: [...jobQueryKey({ organizationId, jobId }), "branches"] });
  }, [queries, organizationId, jobId, paced]);
}

function columnsFor(selected: string | undefined, onSelect: ItemsProps["onSelect"]): readonly Column<JobBranch>[] {
  const words = texts.job.items;
  return [
    {
      id: "item",
      header: words.item,
      width: "28%",
      cell: ({ branch, place, step, visit }) => (
        <button
          type="button"
          className="text-button items-item"
          aria-pressed={branch === selected}
          title={branch}
          onClick={() => onSelect({ step, visit, branch })}
        >
          {words.place(place)}
        </button>
      ),
    },
    {
      id: "state",
      header: words.state,
      width: "34%",
      cell: ({ status }) => (
        <span className={`step-state items-state step-${looks[status]}`}>
          <Icon name={stepIcons[looks[status]]} />
          {words.statuses[status]}
        </span>
      ),
    },
    {
      id: "step",
      header: words.where,
      cell: ({ step, error }) => {
        const text = error === undefined ? step : words.failure(step, error.type ?? error.code, error.message);
        return <span title={text}>{text}</span>;
      },
    },
    {
      id: "since",
      header: words.since,
      width: "148px",
      align: "end",
      isOptional: true,
      cell: ({ startedAt, finishedAt }) => <Time at={finishedAt ?? startedAt} />,
    },
  ];
}
