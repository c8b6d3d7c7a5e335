import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { deploySample, submitSample } from "../../parts/words/first-commands.ts";
import { texts } from "../../texts/texts.ts";

/** The commands that give an organization its first workflow and its first job. */
export function Beginning() {
  const { home } = texts;
  return (
    <Panel title={home.noWorkflowsTitle} isFlush>
      <EmptyState text={home.noWorkflows} command={deploySample} />
      <EmptyState title={home.noJobsTitle} text={home.noJobs} command={submitSample} />
    </Panel>
  );
}
