import type { EventOutcome, EventSending, JobStatus, Operation, Outcome, Submission } from "../operation.ts";
import { OutsideLog } from "../outside/outside-log.ts";
import { forkedShapes, linearShapes } from "../workflows.ts";
import type { FinalJob, FinalStep } from "./final-job.ts";
import type { Entry } from "./history-automaton.ts";

/* Makes a campaign without any defect, for the tests of the checker. Most of them add one defect to it. */

const organizationId = "organization";
const by = { type: "user", id: "owner" } as const;
const nothing = { value: {} };

export const shapesById = new Map([...linearShapes, ...forkedShapes].map((shape) => [shape.name, shape]));

export const finished = jobNamed("finished", "three-noops");
const waiting = jobNamed("waiting", "wait-for-3");
/** A job with branches, one of which waits. */
const forked = jobNamed("forked", "branches");

const first: Submission = { ...submissionOf(finished), idempotencyKey: "key-1" };
const second: Submission = submissionOf(waiting);
const third: Submission = submissionOf(forked);
const part1 = sendingOf("event-1", "part-1");
const part3 = { ...sendingOf("event-3", "part-3"), idempotencyKey: "key-2" };
const again = sendingOf("event-4", "part-3");

export function soundOperations(): Operation[] {
  return [
    submit(first, info, 0),
    submit(first, ok({ jobId: "finished", status: "SUCCEEDED" }), 1),
    submit(second, ok({ jobId: "waiting", status: "RUNNING" }), 2),
    submit(third, ok({ jobId: "forked", status: "RUNNING" }), 2),
    send(part1, ok({ outcome: "matched" }), 3),
    send(part3, info, 4),
    send(part3, ok({ outcome: "matched" }), 5),
    send(again, ok({ outcome: "duplicate" }), 6),
    read("finished", "SUCCEEDED", 7),
    read("waiting", "RUNNING", 8),
  ];
}

export function soundJobs(): FinalJob[] {
  return [
    {
      ...finished,
      status: "SUCCEEDED",
      listedStatus: "SUCCEEDED",
      steps: ["first", "second", "third"].map((name) => ({ name, branch: "", visit: 1, status: "success" })),
      entries: [
        { sequence: 1, type: "job.submitted", by },
        { sequence: 2, type: "job.started" },
        ...["first", "second", "third"].flatMap((step, index) => [
          { sequence: 3 + 2 * index, type: "step.started", step, visit: 1, input: nothing } as const,
          { sequence: 4 + 2 * index, type: "step.succeeded", step, visit: 1, attempt: 1, output: nothing } as const,
        ]),
        { sequence: 9, type: "job.succeeded" },
      ],
      events: [],
    },
    {
      ...waiting,
      status: "RUNNING",
      listedStatus: "RUNNING",
      steps: [
        { name: "before", branch: "", visit: 1, status: "success" },
        { name: "wait", branch: "", visit: 1, status: "successful_but_incomplete" },
      ],
      missingEventIds: ["part-2"],
      entries: [
        { sequence: 1, type: "job.submitted", by },
        { sequence: 2, type: "job.started" },
        { sequence: 3, type: "step.started", step: "before", visit: 1, input: nothing },
        { sequence: 4, type: "step.succeeded", step: "before", visit: 1, attempt: 1, output: nothing },
        { sequence: 5, type: "step.started", step: "wait", visit: 1, input: nothing },
        { sequence: 6, type: "step.waiting", step: "wait", visit: 1, eventIds: ["part-1", "part-2", "part-3"] },
        { sequence: 7, type: "event.received", eventId: "part-1", eventNumber: 1, outcome: "matched" },
        { sequence: 8, type: "event.received", eventId: "part-3", eventNumber: 2, outcome: "matched" },
      ],
      events: [
        { eventNumber: 1, eventId: "part-1", outcome: "matched", nonce: "event-1" },
        { eventNumber: 2, eventId: "part-3", outcome: "matched", nonce: "event-3" },
      ],
    },
    {
      ...forked,
      status: "RUNNING",
      listedStatus: "RUNNING",
      steps: [
        step("", "split", "running"),
        step(branch.calls, "ask", "success"),
        step(branch.tasks, "make", "success"),
        step(branch.waits, "wait", "successful_but_incomplete"),
        step(branch.calls, "asked", "success"),
        step(branch.tasks, "made", "success"),
      ],
      missingEventIds: ["part-1", "part-2"],
      entries: numbered(
        { type: "job.submitted", by },
        { type: "job.started" },
        started("", "split"),
        { type: "step.forked", step: "split", visit: 1, branchCount: 3 },
        started(branch.calls, "ask"),
        started(branch.tasks, "make"),
        started(branch.waits, "wait"),
        { type: "step.waiting", ...at(branch.waits, "wait"), eventIds: ["part-1", "part-2"] },
        succeeded(branch.calls, "ask"),
        started(branch.calls, "asked"),
        succeeded(branch.calls, "asked"),
        { type: "step.interrupted", ...at(branch.tasks, "make"), attempt: 1 },
        { type: "step.attemptStarted", ...at(branch.tasks, "make"), attempt: 2 },
        succeeded(branch.tasks, "make", 2),
        started(branch.tasks, "made"),
        succeeded(branch.tasks, "made"),
      ),
      events: [],
    },
  ];
}

const askKey = "forked:ask:1:split:1[calls]";
export const makeKey = "forked:make:1:split:1[tasks]";

/** The first worker was lost, and the next one received the task under the same key. */
export function soundLog(): OutsideLog {
  const log = new OutsideLog();
  log.handOut({ jobId: "forked", idempotencyKey: askKey, attempt: 1, holder: "function" });
  log.handOut({ jobId: "forked", idempotencyKey: makeKey, attempt: 1, holder: "worker-1" });
  log.handOut({ jobId: "forked", idempotencyKey: makeKey, attempt: 2, holder: "worker-2" });
  log.answer({ jobId: "forked", idempotencyKey: makeKey, attempt: 2, holder: "worker-2", isTaken: true });
  log.answer({ jobId: "forked", idempotencyKey: makeKey, attempt: 1, holder: "worker-1", isTaken: false });
  return log;
}

export const branch = { calls: "split:1[calls]", tasks: "split:1[tasks]", waits: "split:1[waits]" };

export function started(branch: string, name: string): Transition {
  return { type: "step.started", ...at(branch, name), input: nothing };
}

export function succeeded(branch: string, name: string, attempt = 1): Transition {
  return { type: "step.succeeded", ...at(branch, name), attempt, output: nothing };
}

export function step(branch: string, name: string, status: FinalStep["status"]): FinalStep {
  return { branch, name, visit: 1, status };
}

export type Transition = Entry extends infer Each ? (Each extends unknown ? Omit<Each, "sequence"> : never) : never;

export function numbered(...transitions: readonly Transition[]): Entry[] {
  return transitions.map((transition, index) => ({ ...transition, sequence: index + 1 }) as Entry);
}

function at(branch: string, step: string) {
  return { ...(branch !== "" && { branch }), step, visit: 1 };
}

export function submit(
  submission: Submission,
  outcome: Outcome<{ jobId: string; status: JobStatus }>,
  at: number,
): Operation {
  return { type: "submit", submission, outcome, ...timed(at) };
}

export function send(sending: EventSending, outcome: Outcome<{ outcome: EventOutcome }>, at: number): Operation {
  return { type: "sendEvent", sending, outcome, ...timed(at) };
}

export function read(jobId: string, status: JobStatus, at: number): Operation {
  return { type: "read", job: { organizationId, jobId }, outcome: ok({ status }), ...timed(at) };
}

export function cancel(jobId: string, at: number): Operation {
  return { type: "cancel", job: { organizationId, jobId }, outcome: ok({ status: "CANCELLED" }), ...timed(at) };
}

export function resume(jobId: string, at: number): Operation {
  return { type: "resume", job: { organizationId, jobId }, outcome: ok({ status: "PENDING" }), ...timed(at) };
}

export function ok<Answer>(answer: Answer): Outcome<Answer> {
  return { type: "ok", answer };
}

export const info = { type: "info", reason: "The connection was lost." } as const;

export function submissionOf({
  input,
  workflowId,
}: Pick<FinalJob, "workflowId"> & { input: Submission["input"] }): Submission {
  return { nonce: input.nonce, organizationId, workflowId, input, idempotencyKey: null };
}

export function sendingOf(nonce: string, eventId: string): EventSending {
  return { nonce, organizationId, jobId: "waiting", eventId, idempotencyKey: null };
}

function jobNamed(jobId: string, workflowId: string) {
  return { organizationId, jobId, workflowId, input: { nonce: `nonce of ${jobId}`, count: 3 } };
}

function timed(at: number) {
  return { client: 1, startedAtMs: at, endedAtMs: at + 0.5 };
}
