import type { IconName } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";

/** The present state of a step of a job, as the graph and the list show it. */
export interface StepLook {
  readonly status: StepStatus;
  /** The number of the latest visit; 1 if several branches have reached the step. */
  readonly visit: number;
  readonly attempts: number;
  /** The number of branches with each status, if several have reached the step. The status of the step is then the most important one among them. */
  readonly counts?: StepCounts;
  /** How far a step with branches has come. */
  readonly progress?: ForkProgress;
}

export type StepStatus = keyof typeof texts.graph.status;
export type StepCounts = ReadonlyMap<StepStatus, number>;

/** How many branches one visit of a step has (`all`), and how many of them have each status. The rest of them have not begun. */
export interface ForkProgress {
  readonly all: number;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

export const stepIcons: Readonly<Record<StepStatus, IconName>> = {
  idle: "stop",
  running: "job",
  retrying: "retry",
  waiting: "hourglass",
  sleeping: "moon",
  succeeded: "check",
  failed: "cross",
  cancelled: "ban",
};

/** The statuses, in the order of their importance for the user. */
const statusesByWeight: readonly StepStatus[] = [
  "running",
  "retrying",
  "waiting",
  "sleeping",
  "failed",
  "cancelled",
  "succeeded",
];

/** The look of a step that several branches have reached. */
export function lookOfMany(looks: readonly StepLook[]): StepLook {
  const found = Map.groupBy(looks, ({ status }) => status);
  const counts = new Map(
    statusesByWeight.flatMap((status) => {
      const count = found.get(status)?.length ?? 0;
      return count === 0 ? [] : [[status, count] as const];
    }),
  );
  const [status = "idle"] = counts.keys();
  return { status, visit: 1, attempts: 1, counts };
}

/** Describes a look: "Running, visit 2, attempt 3", or "3 running, 1 failed". Adds how far the step's branches have come, if it has some. */
export function lookText({ status, visit, attempts, counts, progress }: StepLook): string {
  const { graph } = texts;
  const parts =
    counts === undefined
      ? [graph.status[status]]
      : [...counts].map(([one, count]) => graph.statusCount(count, graph.status[one]));
  const special = [visit > 1 && graph.visit(visit), attempts > 1 && graph.attempt(attempts)];
  return [...parts, ...special, progress !== undefined && progressText(progress)].filter(Boolean).join(", ");
}

/** Describes the progress of branches: "12 of 10,000 done, 3 failed, 10 open". */
export function progressText({ all, open, succeeded, failed, cancelled }: ForkProgress): string {
  const { graph } = texts;
  const others = [
    failed > 0 && graph.failedCount(failed),
    open > 0 && graph.openCount(open),
    cancelled > 0 && graph.cancelledCount(cancelled),
  ];
  return [graph.doneOf(succeeded, all), ...others].filter(Boolean).join(", ");
}
