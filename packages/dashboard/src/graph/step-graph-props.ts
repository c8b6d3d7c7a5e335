import type { GraphStep } from "./graph-step.ts";
import type { StepLook } from "./step-look.ts";

export interface StepGraphProps {
  readonly steps: readonly GraphStep[];
  /** The steps are being loaded, and their place is kept free. */
  readonly isLoading?: boolean;
  /** The look of each step of a job, by the step's name; left out for a definition alone. */
  readonly looks?: ReadonlyMap<string, StepLook>;
  /** Ways that the job took, as `from to`. */
  readonly taken?: ReadonlySet<string>;
  /** The step at which the job is; the picture moves there. */
  readonly current?: string | undefined;
  readonly selected?: string | undefined;
  readonly onSelect?: (name: string) => void;
}
