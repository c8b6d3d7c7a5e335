import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { usePermission } from "../../api/permissions.ts";
import { workflowsQuery } from "../../api/workflows.ts";
import { JobCharts } from "../../parts/JobCharts.tsx";
import { PageHeading } from "../../parts/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";
import { Beginning } from "./Beginning.tsx";
import { FailedJobs } from "./FailedJobs.tsx";
import "./HomePage.css";
import { JobsNow } from "./JobsNow.tsx";
import { WaitingJobs } from "./WaitingJobs.tsx";

/** What runs, what needs a person, and how the last day was. */
export function HomePage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const maySeeMetrics = usePermission(organizationId, "metrics:read");
  const maySeeJobs = usePermission(organizationId, "job:list");
  const { data } = useInfiniteQuery(workflowsQuery(organizationId));
  const isEmpty = data?.pages[0]?.workflows.length === 0;
  return (
    <>
      <PageHeading title={texts.home.title} />
      {isEmpty && <Beginning />}
      {maySeeMetrics && <JobsNow organizationId={organizationId} />}
      {maySeeJobs && (
        <div className="home-jobs">
          <WaitingJobs organizationId={organizationId} />
          <FailedJobs organizationId={organizationId} />
        </div>
      )}
      {maySeeMetrics && <JobCharts organizationId={organizationId} />}
    </>
  );
}
