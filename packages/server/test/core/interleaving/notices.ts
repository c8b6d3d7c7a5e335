import { expect } from "vitest";
import type { ChildOutcome } from "../../../src/core/job/fact.ts";
import { isTerminal } from "../../../src/core/job/job-state.ts";
import type { Happened } from "./full-memory.ts";

/**
 * Checks that a child job sends its parent one notice of its end. The notice is in the commit of the end, and has the epoch of the parent's newest
 * call. `awaitedBy` is the epoch of the first call; undefined if no parent waits. A job that its parent has left is cancelled and sends no notice.
 */
export function checkNotices(happened: readonly Happened[], awaitedBy: number | undefined): void {
  let epoch = awaitedBy;
  let isOver = false;
  for (const one of happened) {
    const { fact, change } = one;
    const isLeft = fact?.type === "parent.left" && fact.epoch === epoch && !isOver;
    if (fact?.type === "parent.called") epoch = fact.epoch;
    isOver = isTerminal(change.job.state.status);
    const isOwed = isOver && epoch !== undefined && !isLeft;
    if (isLeft) expect(change.job.state.status).toBe("CANCELLED");
    expect(change.notice).toEqual(isOwed ? { epoch, outcome: outcomeOf(one) } : undefined);
    if (isOver) epoch = undefined;
  }
}

function outcomeOf({ entries, change }: Happened): ChildOutcome {
  const { jobId, state } = change.job;
  if (state.status === "FAILED") {
    const { attempt: _, cause: __, ...error } = state.error;
    return { error: { ...error, jobId } };
  }
  if (state.status === "CANCELLED")
    return { error: { code: "Cancelled", message: "The job was cancelled.", jobId, step: expect.any(String) } };
  const last = entries.findLast((entry) => entry.type === "step.succeeded" && entry.branch === undefined);
  if (last?.type !== "step.succeeded") throw new Error("The job succeeded without a step that did.");
  return { output: last.output };
}
