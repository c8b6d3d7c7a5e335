import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { JobKey } from "../../api/job.ts";
import { useSettledPermissions } from "../../api/permissions.ts";
import { isOneLine, pathsTo } from "../../graph/branch-path.ts";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import "./JobPage.css";
import { ChildLinks } from "./ChildLinks.tsx";
import { Children, childrenOf, useChildJobs } from "./Children.tsx";
import { Explanation } from "./Explanation.tsx";
import { Events } from "./events/Events.tsx";
import { History } from "./History.tsx";
import { Items } from "./Items.tsx";
import { JobData } from "./JobData.tsx";
import { JobGraph } from "./JobGraph.tsx";
import { JobHeading } from "./JobHeading.tsx";
import type { JobPageSearch } from "./job-page-search.ts";
import { forkOf, type JobStory } from "./job-story.ts";
import { StepDetails } from "./StepDetails.tsx";
import type { StepRun } from "./step-run.ts";
import { looksOf } from "./story-looks.ts";
import { Timeline } from "./timeline/Timeline.tsx";
import { type ShownJob, useJob } from "./use-job.ts";

const from = "/app/organizations/$organizationId/jobs/$jobId";

/** One job, shown live: the explanation of its state, its way through the steps, and the actions that are possible. */
export function JobPage() {
  const key = useParams({ from });
  const { shown, error, retry } = useJob(key);
  const arePermissionsSettled = useSettledPermissions(key.organizationId);
  if (shown === undefined || !arePermissionsSettled)
    return error === null ? <Skeleton rows={10} /> : <PageProblem error={error} onRetry={retry} />;
  return (
    <>
      {error !== null && <Problem error={error} onRetry={retry} />}
      <Whole key={key.jobId} jobKey={key} shown={shown} />
    </>
  );
}

function Whole({ jobKey, shown }: { readonly jobKey: JobKey; readonly shown: ShownJob }) {
  const { story, types, entries } = shown;
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const select = (next: JobPageSearch) => void navigate({ search: next, replace: true, resetScroll: false });
  const { branch } = search;
  const step = search.step ?? story.current?.name;
  const runs = useMemo(() => runsOf(story, step, branch), [story, step, branch]);
  const run = runs.find(({ visit }) => visit === search.visit) ?? runs.at(-1);
  const looks = useMemo(() => looksOf(story, branch), [story, branch]);
  // The selected item stays selected from step to step. At a step of the main line, all items are shown again.
  const selectStep = (name: string) => {
    const isOnMainLine = story.runs.some((one) => one.name === name && one.branch === "");
    select({ step: name, ...(branch !== undefined && !isOnMainLine && { branch }) });
  };
  const childJobs = useChildJobs(jobKey, story, types);
  const loop = loopAround(story, run?.branch ?? branch ?? "", run);
  return (
    <>
      <JobHeading jobKey={jobKey} shown={shown} />
      <Explanation jobKey={jobKey} shown={shown} />
      <div className="job-steps">
        <JobGraph
          organizationId={jobKey.organizationId}
          shown={shown}
          looks={looks}
          selected={step}
          onSelect={selectStep}
        />
        <StepDetails story={story} step={step} run={run} runs={runs} branch={branch} onSelect={select}>
          {run !== undefined && <ChildLinks organizationId={jobKey.organizationId} jobs={childrenOf(childJobs, run)} />}
        </StepDetails>
      </div>
      {loop !== undefined && (
        <Items key={loop.key} jobKey={jobKey} story={story} loop={loop} branch={branch} onSelect={select} />
      )}
      {childJobs !== undefined && (
        <Children organizationId={jobKey.organizationId} story={story} childJobs={childJobs} />
      )}
      <Timeline story={story} submittedAt={shown.job.createdAt} selected={run} onSelect={select} />
      <JobData shown={shown} />
      <Events jobKey={jobKey} story={story} />
      <History jobId={jobKey.jobId} story={story} types={types} entries={entries} />
    </>
  );
}

/** Returns the runs of a step. If a branch is selected, only those in it, in the branches around it and in the branches inside of it are returned. */
function runsOf({ runs }: JobStory, step: string | undefined, branch: string | undefined): readonly StepRun[] {
  return runs.filter((run) => run.name === step && (branch === undefined || isOneLine(run.branch, branch)));
}

/** Returns the run of the forEach step whose items are listed: this run, or the innermost one around the branch. */
function loopAround(story: JobStory, path: string, run: StepRun | undefined): StepRun | undefined {
  const around = pathsTo(path).map((one) => forkOf(story, one));
  return [...around, run].findLast((one) => one?.fork?.hasItems);
}
