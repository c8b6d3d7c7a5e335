import { useMemo } from "react";
import { stepsOfText } from "../../graph/graph-step.ts";
import { StepGraph } from "../../graph/StepGraph.tsx";
import type { StepLook } from "../../graph/step-look.ts";
import { stepsOfWay } from "../../graph/steps-of-way.ts";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import type { ShownJob } from "./use-job.ts";
import { useJobVersion } from "./use-job-version.ts";

interface JobGraphProps {
  readonly organizationId: string;
  readonly shown: ShownJob;
  readonly looks: ReadonlyMap<string, StepLook>;
  readonly selected: string | undefined;
  readonly onSelect: (step: string) => void;
}

/** The job's way through its definition, kept up to date while the job runs. */
export function JobGraph({ organizationId, shown, looks, selected, onSelect }: JobGraphProps) {
  const { job, story, types } = shown;
  const { version, error, mayReadVersion } = useJobVersion(organizationId, job);
  const steps = useMemo(
    () =>
      (version !== undefined && stepsOfText(version.definition)) ||
      (mayReadVersion
        ? undefined
        : stepsOfWay(
            story.runs.map(({ name, status, branch, fork }) => {
              return { name, status, branch, type: types.get(name) ?? "", hasItems: fork?.hasItems };
            }),
          )),
    [version, mayReadVersion, story.runs, types],
  );
  return (
    <Panel title={texts.job.graph} isFlush>
      {error !== null && <Problem error={error} />}
      <StepGraph
        // Space for the graph is kept until the definition is loaded.
        steps={steps ?? []}
        isLoading={steps === undefined}
        looks={looks}
        taken={story.taken}
        current={story.current?.name}
        selected={selected}
        onSelect={onSelect}
      />
    </Panel>
  );
}
