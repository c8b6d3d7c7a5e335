import type { IconName } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";

/** What a step of a job looks like now. */
export interface StepLook {
  readonly status: StepStatus;
  /** The latest one. */
  readonly visit: number;
  readonly attempts: number;
}

export type StepStatus = keyof typeof texts.graph.status;

export const stepIcons: Readonly<Record<StepStatus, IconName>> = {
  idle: "stop",
  running: "job",
  retrying: "retry",
  waiting: "hourglass",
  succeeded: "check",
  failed: "cross",
  cancelled: "ban",
};

/** "2nd visit, attempt 3"; empty where there is nothing special about it. */
export function countsOf({ visit, attempts }: StepLook): string {
  const { graph } = texts;
  return [visit > 1 && graph.visit(visit), attempts > 1 && graph.attempt(attempts)].filter(Boolean).join(", ");
}
