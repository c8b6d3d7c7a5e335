import { isDeepStrictEqual } from "node:util";
import { mainLine } from "../branches.ts";
import type { WorkflowShape } from "../workflows.ts";
import type { FinalEvent, FinalJob, FinalStep } from "./final-job.ts";
import { type Finding, violation } from "./finding.ts";
import {
  type Addresses,
  type Fold,
  foldHistory,
  isWaiting,
  latestIn,
  NotAPath,
  type StepFold,
} from "./history-automaton.ts";
import { missingEventIds, wayOf } from "./way.ts";

/** Checks that the history is a path of the state machine and fits the workflow, and that the answers about the job follow from the history. */
export function checkHistory(
  job: FinalJob,
  shape: WorkflowShape | undefined,
  endedByLostWorkers: Set<string>,
): Finding[] {
  try {
    const fold = foldHistory(job.entries, addressesOf(job.events));
    return [
      ...complaintsAboutState(job, fold),
      ...(shape ? complaintsAboutWay(job, fold, shape, endedByLostWorkers) : []),
    ].map((detail) => violation(job.jobId, detail));
  } catch (error) {
    if (error instanceof NotAPath) return [violation(job.jobId, `Its history is broken: ${error.message}`)];
    throw error;
  }
}

/** The waits for which events were sent, by the numbers of the events. */
export function addressesOf(events: readonly FinalEvent[]): Addresses {
  return new Map(events.flatMap(({ eventNumber, address }) => (address ? [[eventNumber, address]] : [])));
}

/** Returns the steps in the history, or none if the history is broken, which `checkHistory` reports. */
export function runsOf({ entries, events }: FinalJob): readonly StepFold[] {
  try {
    return foldHistory(entries, addressesOf(events)).steps;
  } catch (error) {
    if (error instanceof NotAPath) return [];
    throw error;
  }
}

/** Compares the answers of GetJob, ListJobs and ListJobEvents with the history. */
function* complaintsAboutState(job: FinalJob, fold: Fold): Generator<string> {
  if (job.status !== fold.status) yield `GetJob says ${job.status}, its history ${fold.status}.`;
  if (job.listedStatus !== job.status) yield `GetJob says ${job.status}, ListJobs ${job.listedStatus}.`;
  yield* differences("steps", job.steps, fold.steps.map(shownStep));
  const received = job.entries.filter((entry) => entry.type === "event.received");
  const tripleOf = ({ eventNumber, eventId, outcome }: Pick<FinalEvent, "eventNumber" | "eventId" | "outcome">) => ({
    eventNumber,
    eventId,
    outcome,
  });
  yield* differences("events", job.events.map(tripleOf), received.map(tripleOf));
}

/**
 * Compares the history with the workflow: each branch must have its steps in order, and each wait must end with exactly the events that it waits for.
 */
function* complaintsAboutWay(
  job: FinalJob,
  fold: Fold,
  { steps }: WorkflowShape,
  endedByLostWorkers: Set<string>,
): Generator<string> {
  const { state, complaints, lostSixWorkers } = wayOf(fold, steps, endedByLostWorkers);
  if (lostSixWorkers) endedByLostWorkers.add(job.jobId);
  yield* complaints;
  const expected = { PENDING: "resting", RUNNING: "resting", SUCCEEDED: "done", FAILED: "failed", CANCELLED: state };
  if (state !== expected[fold.status]) {
    yield `It is ${fold.status}, and its steps are ${state}; its latest step: ${fold.steps.at(-1)?.name ?? "none"}.`;
  }
  const latest = latestIn(fold, mainLine);
  if (latest === undefined || !isWaiting(latest)) return;
  yield* differences(
    "missing events",
    (job.missingEventIds ?? []).toSorted(),
    missingEventIds(fold, latest).toSorted(),
  );
}

function shownStep({ name, branch, visit, phase, isCut }: StepFold): FinalStep {
  switch (phase) {
    case "succeeded":
      return { name, branch, visit, status: "success" };
    case "failed":
      return { name, branch, visit, status: "failure" };
    case "waiting":
    case "delayed":
      // The wait or the sleep is not complete, but the step has not failed.
      return { name, branch, visit, status: "successful_but_incomplete" };
    default:
      // Any other step that was cut off is shown as failed.
      return { name, branch, visit, status: isCut ? "failure" : "running" };
  }
}

function* differences(what: string, shown: unknown, expected: unknown): Generator<string> {
  if (isDeepStrictEqual(shown, expected)) return;
  yield `Its ${what}: ${JSON.stringify(shown)} is shown, but ${JSON.stringify(expected)} follows from its history and workflow.`;
}
