import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { JobKey } from "../../api/job.ts";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import "./JobPage.css";
import { Events } from "./Events.tsx";
import { Explanation } from "./Explanation.tsx";
import { History } from "./History.tsx";
import { JobData } from "./JobData.tsx";
import { JobGraph } from "./JobGraph.tsx";
import { JobHeading } from "./JobHeading.tsx";
import { StepDetails } from "./StepDetails.tsx";
import { Timeline } from "./Timeline.tsx";
import { type ShownJob, useJob } from "./use-job.ts";

const from = "/app/organizations/$organizationId/jobs/$jobId";

/** One job: why it is where it is, its way through the steps as it goes, and what can be done about it. */
export function JobPage() {
  const key = useParams({ from });
  const { shown, error, retry } = useJob(key);
  if (shown === undefined)
    return error === null ? <Skeleton rows={10} /> : <PageProblem error={error} onRetry={retry} />;
  return (
    <>
      {error !== null && <Problem error={error} onRetry={retry} />}
      <Whole key={key.jobId} jobKey={key} shown={shown} />
    </>
  );
}

function Whole({ jobKey, shown }: { readonly jobKey: JobKey; readonly shown: ShownJob }) {
  const { story, entries } = shown;
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const select = (step: string, visit?: number) => {
    const next = visit === undefined ? { step } : { step, visit };
    void navigate({ search: next, replace: true, resetScroll: false });
  };
  const selected = search.step ?? story.current?.name;
  return (
    <>
      <JobHeading jobKey={jobKey} shown={shown} />
      <Explanation jobKey={jobKey} shown={shown} />
      <div className="job-steps">
        <JobGraph organizationId={jobKey.organizationId} shown={shown} selected={selected} onSelect={select} />
        <StepDetails story={story} step={selected} visit={search.visit} onVisit={select} />
      </div>
      <Timeline story={story} submittedAt={shown.job.createdAt} onSelect={select} />
      <JobData shown={shown} />
      <Events jobKey={jobKey} story={story} />
      <History entries={entries} />
    </>
  );
}
