import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { usePermission, useSettledPermissions } from "../../api/permissions.ts";
import { workflowQuery } from "../../api/workflows.ts";
import { JobCharts } from "../../parts/charts/JobCharts.tsx";
import { Button } from "../../parts/controls/Button.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { SubmitJobDialog } from "../../submit/SubmitJobDialog.tsx";
import { texts } from "../../texts/texts.ts";
import { DeleteWorkflow } from "./DeleteWorkflow.tsx";
import { EditLink } from "./EditLink.tsx";
import { MoveTagDialog, type TagMove } from "./MoveTagDialog.tsx";
import { RecentJobs } from "./RecentJobs.tsx";
import { Tags } from "./Tags.tsx";
import { Versions } from "./Versions.tsx";
import "./WorkflowPage.css";

/** One workflow: its versions and tags, its latest jobs, and its charts. */
export function WorkflowPage() {
  const key = useParams({ from: "/app/organizations/$organizationId/workflows/$workflowId" });
  const { organizationId, workflowId } = key;
  const maySeeMetrics = usePermission(organizationId, "metrics:read");
  const maySeeJobs = usePermission(organizationId, "job:list");
  const mayTag = usePermission(organizationId, "workflow:version:create");
  const maySubmit = usePermission(organizationId, "job:submit");
  const mayDelete = usePermission(organizationId, "workflow:delete");
  const { data: workflow, error, refetch } = useQuery(workflowQuery(key));
  const [isSubmitting, setSubmitting] = useState(false);
  const [move, setMove] = useState<TagMove | undefined>();
  const arePermissionsSettled = useSettledPermissions(organizationId);
  if (workflow === undefined || !arePermissionsSettled) {
    return error === null ? <Skeleton rows={8} /> : <PageProblem error={error} onRetry={() => void refetch()} />;
  }
  const begin = mayTag ? setMove : undefined;
  return (
    <>
      <PageHeading
        title={workflow.name}
        docs="workflow"
        actions={
          <>
            {mayTag && <EditLink workflow={key} />}
            {maySubmit && (
              <Button kind="main" icon="job" onClick={() => setSubmitting(true)}>
                {texts.submit.open}
              </Button>
            )}
            {mayDelete && <DeleteWorkflow workflow={workflow} {...key} />}
          </>
        }
      />
      <div className="workflow-columns">
        <Tags workflow={key} onMove={begin} />
        <Versions workflow={key} name={workflow.name} onTag={begin} />
      </div>
      {maySeeJobs && <RecentJobs organizationId={organizationId} workflow={workflow} />}
      {maySeeMetrics && <JobCharts organizationId={organizationId} workflowId={workflowId} />}
      {isSubmitting && <SubmitJobDialog workflow={key} name={workflow.name} onClose={() => setSubmitting(false)} />}
      {move !== undefined && <MoveTagDialog workflow={key} move={move} onClose={() => setMove(undefined)} />}
    </>
  );
}
