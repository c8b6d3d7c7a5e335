import type { WholeJob } from "../../api/job.ts";
import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import { forEachType } from "../../graph/graph-step.ts";

type Entry = Omit<HistoryEntry, "sequence">;

/**
 * Makes the part of a job's history that is known from the answer of GetJob: the steps that the job went through, and its present step. Earlier
 * attempts and the pauses between attempts are unknown.
 */
export function entriesOf(job: WholeJob): HistoryEntry[] {
  const { createdAt, startedAt, finishedAt, updatedAt, status, error } = job;
  const entries: Entry[] = [{ type: "job.submitted", at: createdAt }];
  if (startedAt !== undefined) entries.push({ type: "job.started", at: startedAt });
  for (const step of job.steps) entries.push(...entriesOfStep(step));
  const { currentStep } = job;
  if (currentStep?.awaiting !== undefined) {
    const { awaiting } = currentStep;
    entries.push({ type: "step.waiting", at: awaiting.since, ...keyOf(currentStep), eventIds: awaiting.eventIds });
    for (const eventId of awaiting.receivedEventIds)
      entries.push({ type: "event.received", at: updatedAt, eventId, outcome: "matched" });
  }
  const at = finishedAt ?? updatedAt;
  if (status === "SUCCEEDED") entries.push({ type: "job.succeeded", at });
  else if (status === "FAILED") entries.push({ type: "job.failed", at, ...(error !== undefined && { error }) });
  else if (status === "CANCELLED") entries.push({ type: "job.cancelled", at });
  else if (status === "PENDING" && startedAt !== undefined) entries.push({ type: "job.resumed", at });
  return entries.map((entry) => ({ ...entry, sequence: 0 }));
}

/** Returns how many step runs the job had, including those that GetJob leaves out. */
export function stepRunCount({ steps, earlierStepRuns = {} }: WholeJob): number {
  return Object.values(earlierStepRuns).reduce((sum, count) => sum + count, steps.length);
}

function entriesOfStep(run: WholeJob["steps"][number]): Entry[] {
  const { input, output, attempts, status, startedAt, retryAt, delayEndsAt, branchCount } = run;
  const error = run.error !== undefined && { error: run.error };
  const at = run.finishedAt ?? startedAt;
  const entries: Entry[] = [{ type: "step.started", at: startedAt, input }];
  if (attempts > 1) entries.push({ type: "step.attemptStarted", at: startedAt, attempt: attempts });
  if (retryAt !== undefined) entries.push({ type: "step.attemptFailed", at, retryAt, ...error });
  if (delayEndsAt !== undefined) entries.push({ type: "step.delayed", at, delayEndsAt });
  // GetJob names the awaited events of only one wait, so the list is empty here. `entriesOf` adds them for that wait.
  if (status === "successful_but_incomplete" && delayEndsAt === undefined && run.finishedAt === undefined)
    entries.push({ type: "step.waiting", at, eventIds: [] });
  if (branchCount !== undefined)
    entries.push({ type: "step.forked", at, branchCount, ...(run.type === forEachType && { items: [] }) });
  if (status === "success") entries.push({ type: "step.succeeded", at, output });
  // A cancelled run gets no entry of its own. The entry for the end of its job, or of the step whose branch contains it, also ends the run.
  if (status === "failure" && run.error?.code !== "Cancelled") entries.push({ type: "step.failed", at, ...error });
  return entries.map((entry) => ({ ...entry, ...keyOf(run) }));
}

function keyOf({ name: step, visit, branch }: Pick<WholeJob["steps"][number], "name" | "visit" | "branch">) {
  return { step, visit, ...(branch !== undefined && { branch }) };
}
