import { isDeepStrictEqual } from "node:util";
import type { WorkflowShape } from "../workflows.ts";
import type { FinalJob, FinalStep } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import { type Fold, foldHistory, NotAPath, type StepFold } from "./history-automaton.ts";

/** The history is a path of the state machine, and all that the service shows of the job follows from it. */
export function checkHistory(job: FinalJob, shape: WorkflowShape | undefined): Finding[] {
  try {
    const fold = foldHistory(job.entries);
    return [...complaintsAboutState(job, fold), ...(shape ? complaintsAboutWay(job, fold, shape) : [])].map((detail) =>
      violation(job.jobId, detail),
    );
  } catch (error) {
    if (error instanceof NotAPath) return [violation(job.jobId, `Its history is broken: ${error.message}`)];
    throw error;
  }
}

/** GetJob, ListJobs and ListJobEvents against the history. */
function* complaintsAboutState(job: FinalJob, fold: Fold): Generator<string> {
  if (job.status !== fold.status) yield `GetJob says ${job.status}, its history ${fold.status}.`;
  if (job.listedStatus !== job.status) yield `GetJob says ${job.status}, ListJobs ${job.listedStatus}.`;
  yield* differences(
    "steps",
    job.steps,
    fold.steps.map((step) => shownStep(step, fold)),
  );
  const received = job.entries.filter((entry) => entry.type === "event.received");
  const pairOf = ({ eventId, outcome }: { eventId: string; outcome: string }) => ({ eventId, outcome });
  yield* differences("events", job.events.map(pairOf), received.map(pairOf));
}

/** The history against the workflow: the steps in their order, and each wait left with exactly the events that it waits for. */
function* complaintsAboutWay(job: FinalJob, fold: Fold, { steps }: WorkflowShape): Generator<string> {
  const taken = fold.steps.map(({ name }) => name);
  const planned = steps.map(({ name }) => name);
  yield* differences("way", taken, planned.slice(0, taken.length));
  if (fold.status === "SUCCEEDED" && taken.length < planned.length) yield `It succeeded after ${taken.length} steps.`;
  if (fold.status === "FAILED") yield "It failed, though none of its steps can.";

  for (const { name, phase, consumed } of fold.steps) {
    if (phase !== "succeeded") continue;
    const awaited = steps.find((step) => step.name === name)?.eventIds ?? [];
    yield* differences(`events of ${name}`, consumed.toSorted(), awaited.toSorted());
  }
  if (fold.status === "PENDING" || fold.status === "RUNNING") yield* complaintsAboutWait(job, fold);
}

/** A job that has not ended can only wait here, and only for what has not come. */
function* complaintsAboutWait(job: FinalJob, fold: Fold): Generator<string> {
  const step = fold.steps.at(-1);
  if (fold.status !== "RUNNING" || step?.phase !== "waiting") {
    yield `It did not come to rest: it is ${fold.status}, and its latest step is ${step?.phase ?? "none"}.`;
    return;
  }
  const received = new Set(fold.kept.values());
  const missing = step.eventIds.filter((eventId) => !received.has(eventId));
  if (missing.length === 0) yield `It waits in ${step.name}, though all its events have come.`;
  yield* differences("missing events", (job.missingEventIds ?? []).toSorted(), missing.toSorted());
}

function shownStep({ name, visit, phase }: StepFold, { status }: Fold): FinalStep {
  switch (phase) {
    case "succeeded":
      return { name, visit, status: "success" };
    case "failed":
      return { name, visit, status: "failure" };
    case "waiting":
      // Also in a cancelled job: a wait that is given up has not failed.
      return { name, visit, status: "successful_but_incomplete" };
    default:
      // A call that a cancelled job gave up is shown as failed.
      return { name, visit, status: status === "CANCELLED" ? "failure" : "running" };
  }
}

function* differences(what: string, shown: unknown, expected: unknown): Generator<string> {
  if (isDeepStrictEqual(shown, expected)) return;
  yield `Its ${what}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(expected)} follows from its history and workflow.`;
}
