import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { texts } from "../../texts/texts.ts";

/** For an organization without a workflow: the two commands that change that. */
export function Beginning() {
  const { home } = texts;
  return (
    <Panel title={home.noWorkflowsTitle} isFlush>
      <EmptyState text={home.noWorkflows} command="npx stepwell deploy examples/order-approval/workflow.json" />
      <EmptyState
        title={home.noJobsTitle}
        text={home.noJobs}
        command={`npx stepwell submit order-approval --input '{"sku":"STEP-1","count":1}'`}
      />
    </Panel>
  );
}
