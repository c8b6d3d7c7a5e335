import type { CallingStep } from "../job/job-state.ts";
import { quoted } from "../problem.ts";
import type { Timestamp } from "../time.ts";
import type { Circumstances, Explanation, ExplanationFacts, QueueFacts, WorkerFacts } from "./explanation-parts.ts";
import { duration } from "./words.ts";

/** Explains a step that is a task: it waits in its queue, or a worker holds it. */
export function ofTask(
  { now }: Circumstances,
  { name }: CallingStep,
  task: { readonly queue: QueueFacts; readonly worker: WorkerFacts | null },
  facts: ExplanationFacts,
): Explanation {
  const { queue, worker } = task;
  const known = { ...facts, queue, ...(worker !== null && { worker }) };
  const end = facts.timeoutAt === undefined ? "" : timeout(facts.timeoutAt - now);
  if (worker === null) {
    const waits = `The task of ${quoted(name)} has waited in the queue ${quoted(queue.name)} for ${duration(now - facts.since)}`;
    return { state: "waitingForWorker", sentence: `${waits}: ${whyItWaits(queue, now)}.${end}`, facts: known };
  }
  const holds = `The worker ${quoted(worker.name)} has worked on ${quoted(name)} for ${duration(now - worker.takenAt)}`;
  const left = worker.leaseUntil - now;
  const lease =
    left > 0
      ? `another worker gets the task if this one does not report within ${duration(left)}`
      : "it did not report in time, so another worker gets the task soon";
  return { state: "working", sentence: `${holds}: ${lease}.${end}`, facts: known };
}

function whyItWaits({ pausedAt, polledAt, workerCount, waitingCount }: QueueFacts, now: Timestamp): string {
  if (pausedAt !== undefined) return `the queue has been paused for ${duration(now - pausedAt)}`;
  if (polledAt === undefined) return "no worker has asked for tasks of this queue for at least a day";
  const asked = `asked for tasks of this queue ${duration(now - polledAt)} ago`;
  if (workerCount === 0) return `no worker asks now; the last one ${asked}`;
  const workers = workerCount === 1 ? "one worker takes tasks" : `${workerCount} workers take tasks`;
  const tasks = waitingCount === 1 ? "one task waits" : `${waitingCount} tasks wait`;
  return `${workers} from this queue, in which ${tasks}`;
}

function timeout(leftMs: number): string {
  return leftMs > 0
    ? ` The attempt fails in ${duration(leftMs)} if it has not ended by then.`
    : " The attempt's time is up.";
}
