import type { Entry, StepRun } from "../../core/job/history.ts";
import type { Job } from "../../core/job/job-state.ts";
import type { ShownValue } from "../../core/json/json-text.ts";

/** A job with everything that GetJob shows. */
export interface WholeJob {
  readonly job: Job;
  /** The newest step runs, at most `maxShownStepRuns`, in the order of their start. */
  readonly steps: readonly StepRun[];
  /** The number of runs of a step that are not in `steps`, by the step's name. */
  readonly earlierRunCounts: ReadonlyMap<string, number>;
  /** The output of the last step of a job that SUCCEEDED. */
  readonly output: ShownValue | undefined;
  /** Whether the job's values may be so large that making the answer takes long. */
  readonly isLarge: boolean;
  /** The history in its order. If its beginning is missing, it still has all entries of the runs in `steps`. */
  readonly entries: readonly Entry<unknown>[];
}
