import type { GraphStep } from "./graph-step.ts";
import type { StepLook } from "./step-look.ts";

export interface StepGraphProps {
  readonly steps: readonly GraphStep[];
  /** True while the steps are being loaded. Space is kept free for them. */
  readonly isLoading?: boolean;
  /** The look of each step of a job, by the step's name; left out if only a definition is shown, and no job. */
  readonly looks?: ReadonlyMap<string, StepLook>;
  /** The transitions that the job took, each by its `wayKey`. */
  readonly taken?: ReadonlySet<string>;
  /** The step at which the job is. In the editor, the step in which the cursor is. The picture moves to it. */
  readonly current?: string | undefined;
  readonly selected?: string | undefined;
  readonly onSelect?: (name: string) => void;
}
