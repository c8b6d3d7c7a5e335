import { useMemo } from "react";
import { stepsOfText, stepsOfWay } from "../../graph/graph-step.ts";
import { StepGraph } from "../../graph/StepGraph.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import type { ShownJob } from "./use-job.ts";
import { useJobVersion } from "./use-job-version.ts";

interface JobGraphProps {
  readonly organizationId: string;
  readonly shown: ShownJob;
  readonly selected: string | undefined;
  readonly onSelect: (step: string) => void;
}

/** The job's way through its definition, as it goes. */
export function JobGraph({ organizationId, shown: { job, story }, selected, onSelect }: JobGraphProps) {
  const { version, error, mayReadVersion } = useJobVersion(organizationId, job);
  const types = useMemo(() => new Map(job.steps.map(({ name, type }) => [name, type])), [job.steps]);
  const steps = useMemo(
    () =>
      (version !== undefined && stepsOfText(version.definition)) ||
      (mayReadVersion ? undefined : stepsOfWay(story.runs.map(({ name }) => ({ name, type: types.get(name) ?? "" })))),
    [version, mayReadVersion, story.runs, types],
  );
  return (
    <Panel title={texts.job.graph} isFlush>
      {error !== null && <Problem error={error} />}
      <StepGraph
        // Until the definition is here, the place is kept.
        steps={steps ?? []}
        isLoading={steps === undefined}
        looks={story.looks}
        taken={story.taken}
        current={story.current?.name}
        selected={selected}
        onSelect={onSelect}
      />
    </Panel>
  );
}
