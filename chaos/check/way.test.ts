import { expect, test } from "vitest";
import { foldHistory } from "./history-automaton.ts";
import { numbered, shapesById, type Transition } from "./sound-campaign.ts";
import { wayOf } from "./way.ts";

const make = { step: "make", visit: 1 } as const;

/**
 * Returns the complaints about a job whose first task failed after this many lost workers. In its workflow the task is `sound`, so only lost workers
 * can make it fail.
 */
function complaintsAfter(lostCount: number, code: "Interrupted" | "ExecutorError"): readonly string[] {
  const attempts = Array.from({ length: lostCount }, (_, index): Transition[] => [
    { type: "step.interrupted", ...make, attempt: index + 1 },
    { type: "step.attemptStarted", ...make, attempt: index + 2 },
  ]);
  const error = { code, message: "The worker was lost." };
  const attempt = lostCount + 1;
  const entries = numbered(
    { type: "job.submitted", by: { type: "user", id: "owner" } },
    { type: "job.started" },
    { type: "step.started", ...make, input: { value: {} } },
    ...attempts.flat(),
    { type: "step.failed", ...make, attempt, error },
    { type: "job.failed", error: { ...error, step: "make", attempt } },
  );
  return wayOf(foldHistory(entries), shapesById.get("outside")?.steps ?? []).complaints;
}

test("a task that fails because its sixth worker was lost is sound", () => {
  expect(complaintsAfter(5, "Interrupted")).toEqual([]);
});

test.each([[4, "Interrupted"] as const, [5, "ExecutorError"] as const])(
  "a task that fails after %i lost workers with %s is reported with its error",
  (lostCount, code) => {
    expect(complaintsAfter(lostCount, code)).toEqual([
      `make failed, though it cannot: ${code} in attempt ${lostCount + 1}: The worker was lost.`,
    ]);
  },
);

test("a job is sound if its child failed because of lost workers, and not if its child failed for another reason", () => {
  const begin = { step: "begin", visit: 1 } as const;
  const cause = { code: "Interrupted", message: "The worker was lost.", jobId: "child", step: "make" } as const;
  const error = { code: "ChildFailed", message: "The child failed.", cause } as const;
  const fold = foldHistory(
    numbered(
      { type: "job.submitted", by: { type: "user", id: "owner" } },
      { type: "job.started" },
      { type: "step.started", ...begin, input: { value: {} } },
      { type: "step.failed", ...begin, attempt: 1, error },
      { type: "job.failed", error: { ...error, step: "begin", attempt: 1 } },
    ),
  );
  const steps = shapesById.get("child")?.steps ?? [];
  expect(wayOf(fold, steps, new Set(["child"]))).toMatchObject({ complaints: [], lostSixWorkers: true });
  expect(wayOf(fold, steps).complaints).toEqual([
    "begin failed, though it cannot: ChildFailed in attempt 1: The child failed.",
  ]);
});
