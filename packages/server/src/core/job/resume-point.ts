import type { CurrentStep, Cursor, Cursors, ResumePoint } from "./job-state.ts";

/** Returns for each branch the point from which a resume continues. A branch that has not begun is left out. */
export function stopped(cursors: readonly AnyCursor[]): Cursors<ResumePoint> {
  const points = cursors.flatMap(({ stand, ...cursor }) =>
    stand === null ? [] : [{ ...cursor, stand: resumePointOf(stand) }],
  );
  return points as unknown as Cursors<ResumePoint>;
}

export function resumePointOf(step: CurrentStep | ResumePoint): ResumePoint {
  switch (step.phase) {
    case "in":
      return step;
    case "stopped":
      return step.point;
    case "next":
    case "forked": {
      const { wakeAt: _, ...point } = { wakeAt: undefined, ...step };
      return point;
    }
    default: {
      const { name, visit, attempt, input, startedAt } = step;
      return {
        phase: "in",
        name,
        visit,
        attempt,
        input,
        ...(startedAt !== undefined && { startedAt }),
        ...(step.phase === "delayed" && { delayEndsAt: step.wakeAt }),
      };
    }
  }
}

/** The position of a branch during a change. A branch that has not been resumed yet is still at the point where it stopped. */
export type AnyStand = CurrentStep | ResumePoint | null;
export type AnyCursor = Cursor<AnyStand>;
