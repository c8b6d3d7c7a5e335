import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ownPermissionsQuery } from "../../api/permissions.ts";
import { workflowsQuery } from "../../api/workflows.ts";
import { JobCharts } from "../../parts/charts/JobCharts.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { texts } from "../../texts/texts.ts";
import { Beginning } from "./Beginning.tsx";
import { FailedJobs } from "./FailedJobs.tsx";
import "./HomePage.css";
import { JobsNow } from "./JobsNow.tsx";
import { WaitingJobs } from "./WaitingJobs.tsx";

/** The first page: the numbers of jobs by status, lists of the waiting and the failed jobs, and charts of the last day. */
export function HomePage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const own = useQuery(ownPermissionsQuery(organizationId));
  const granted = own.data && new Set(own.data.permissions);
  const { data, isPending } = useInfiniteQuery(workflowsQuery(organizationId));
  const isEmpty = data?.pages[0]?.workflows.length === 0;
  const maySeeMetrics = granted?.has("metrics:read");
  // All parts are shown at the same time, because parts that arrive later would push down the earlier ones.
  const isKnown = granted !== undefined && !isPending;
  return (
    <>
      <PageHeading title={texts.home.title} docs="home" />
      {granted === undefined && own.error !== null && <Problem error={own.error} onRetry={() => void own.refetch()} />}
      {!isKnown && own.error === null && <Skeleton rows={8} />}
      {isKnown && isEmpty && <Beginning />}
      {isKnown && maySeeMetrics && <JobsNow organizationId={organizationId} />}
      {isKnown && granted.has("job:list") && (
        <div className="home-jobs">
          <WaitingJobs organizationId={organizationId} />
          <FailedJobs organizationId={organizationId} />
        </div>
      )}
      {isKnown && maySeeMetrics && <JobCharts organizationId={organizationId} />}
    </>
  );
}
