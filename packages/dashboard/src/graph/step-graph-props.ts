import type { GraphStep } from "./graph-step.ts";
import type { StepLook } from "./step-look.ts";

export interface StepGraphProps {
  readonly steps: readonly GraphStep[];
  /** The steps are on their way: their place is kept. */
  readonly isLoading?: boolean;
  /** How each step of a job stands, by the step's name; left out for a definition alone. */
  readonly looks?: ReadonlyMap<string, StepLook>;
  /** Ways that the job took, as `from to`. */
  readonly taken?: ReadonlySet<string>;
  /** The step at which the job is; the picture moves there. */
  readonly current?: string | undefined;
  readonly selected?: string | undefined;
  readonly onSelect?: (name: string) => void;
}
