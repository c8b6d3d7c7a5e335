import { nextAttemptInMs, transientPolicy } from "../definition/retry.ts";
import { getOwn } from "../json/record.ts";
import type { Plan } from "../plan/plan.ts";
import type { Problem } from "../problem.ts";
import { checkValue } from "../schema/schema.ts";
import { JobDraft, type JobLimits } from "./draft.ts";
import { addressOf } from "./event-address.ts";
import { type EventPayloads, noPayloads } from "./event-payloads.ts";
import type { Change, EventReceived, Fact, JobCancelled, JobResumed, StepFailed, Verdict } from "./fact.ts";
import {
  type CallingStep,
  type Job,
  type Progress,
  type ResumePoint,
  type RunningState,
  type StartedStep,
  type Timestamp,
  type WaitingStep,
  type WaitVisit,
  wakeAtOf,
} from "./job-state.ts";
import { addressedTo, keptFor, noteEvent } from "./kept-events.ts";
import { checkPayload, unreadParts } from "./sent-payload.ts";
import {
  beginStep,
  completeStep,
  completeWait,
  failStep,
  missingEventIds,
  type Next,
  runFrom,
  waitVisitOf,
} from "./step-run.ts";

/**
 * The state machine: what one fact does to one job. Pure: time comes in the fact, and what is owed to the outside goes out as
 * effects. A change without entries is written nowhere; its verdict says why.
 */
export function transition(
  plan: Plan,
  job: Job,
  fact: Fact,
  limits: JobLimits,
  payloads: EventPayloads = noPayloads,
): Change {
  const draftFor = (progress: Progress) => new JobDraft(plan, job, progress, limits, fact.at, payloads);
  switch (fact.type) {
    case "step.succeeded":
      return withCall(draftFor, job, fact, (draft, step) => completeStep(draft, step, step.input, fact.output));
    case "step.failed":
      return withCall(draftFor, job, fact, (draft, step) => retryOrFail(draft, step, fact));
    case "step.interrupted":
      return withCall(draftFor, job, fact, (draft, step) => callAgain(draft, step, fact.isNodeDead));
    case "call.handedBack":
      return withCall(draftFor, job, fact, (draft, step) => handBack(draft, step, fact.begun));
    case "event.received":
      return receiveEvent(draftFor, plan, job, fact);
    case "timer.due":
      return wake(draftFor, job, fact.at);
    case "job.cancelled":
      return cancel(draftFor, job, fact);
    case "job.resumed":
      return resume(draftFor, job, fact);
    default:
      return unreachable(fact);
  }
}

/** Begins a change of the job by the fact. */
type DraftFor = (progress: Progress) => JobDraft;

type JobIdentity = Pick<
  Job,
  | "organizationId"
  | "jobId"
  | "workflowId"
  | "workflowName"
  | "versionId"
  | "versionNumber"
  | "tag"
  | "input"
  | "submittedBy"
>;

export interface Submission extends JobIdentity {
  readonly at: Timestamp;
  /** False while the node has no room for another call: a job that begins with one then stays PENDING until a node has. */
  readonly hasRoomForCall: boolean;
}

/** A new job, run on as far as it goes by itself; or what is wrong with its input, with pointers into the input. */
export function submitJob(
  plan: Plan,
  submission: Submission,
  limits: JobLimits,
): Change | { problems: readonly Problem[] } {
  const problems = checkValue(plan.firstStep.inputSchema, submission.input);
  if (problems.length > 0) return { problems };
  const { hasRoomForCall, at, ...identity } = submission;
  const progress: Progress = { stepRunCount: 0, visits: {}, properties: {}, bufferedEvents: {}, eventCount: 0 };
  const job: Job = {
    ...identity,
    createdAt: at,
    startedAt: null,
    updatedAt: at,
    finishedAt: null,
    sequence: 0,
    leaseEpoch: 0,
    nodeId: null,
    state: { status: "PENDING", progress, resumeAt: null, wakeAt: at },
  };
  const draft = new JobDraft(plan, job, progress, limits, at);
  draft.record({ type: "job.submitted", by: submission.submittedBy });
  if (plan.firstStep.behaviour !== "call" || hasRoomForCall) begin(draft, null);
  return draft.finish();
}

function begin(draft: JobDraft, resumeAt: ResumePoint | null): void {
  draft.start();
  runFrom(
    draft,
    resumeAt === null ? { name: draft.plan.firstStep.name, previousOutput: undefined } : reenter(draft, resumeAt),
  );
}

function reenter(draft: JobDraft, point: ResumePoint): Next | undefined {
  if (point.phase === "next") return { name: point.name, previousOutput: point.previousOutput };
  const position = { name: point.name, visit: point.visit, attempt: point.attempt + 1 };
  draft.record({ type: "step.attemptStarted", step: position.name, visit: position.visit, attempt: position.attempt });
  return beginStep(draft, draft.step(point.name), position, point.input);
}

/** For what comes back from a call: only while that call is still the job's, by its epoch. */
function withCall(
  draftFor: DraftFor,
  job: Job,
  fact: { readonly leaseEpoch: number },
  apply: (draft: JobDraft, step: CallingStep) => Next | undefined,
): Change {
  const { state } = job;
  if (state.status !== "RUNNING" || state.step.phase !== "calling" || job.leaseEpoch !== fact.leaseEpoch)
    return ignored(job);
  const draft = draftFor(state.progress);
  runFrom(draft, apply(draft, state.step));
  return draft.finish();
}

function retryOrFail(draft: JobDraft, step: CallingStep, fact: StepFailed): Next | undefined {
  const { error, kind } = fact.failure;
  const failedAttempts = step.failedAttempts + 1;
  const policy = draft.step(step.name).retry ?? (kind === "transient" ? transientPolicy : undefined);
  const waitMs =
    kind === "permanent" || policy === undefined ? undefined : nextAttemptInMs(policy, failedAttempts, fact.random);
  if (waitMs === undefined) return failStep(draft, step, step.input, error);
  const retryAt = fact.at + waitMs;
  const { name, visit, attempt } = step;
  draft.record({ type: "step.attemptFailed", step: name, visit, attempt, error, retryAt });
  draft.moveTo({ ...step, phase: "retrying", failedAttempts, wakeAt: retryAt });
  return undefined;
}

/**
 * A step that takes its node down with it would otherwise go from node to node for ever. After the second one its call is a suspect, and has no
 * other suspect beside it: so the later ones count against nobody who only stood by.
 */
const maxInterruptions = 5;

function callAgain(draft: JobDraft, step: CallingStep, isNodeDead: boolean): Next | undefined {
  const interruptions = step.interruptions + (isNodeDead ? 1 : 0);
  if (interruptions > maxInterruptions) {
    const message = `The node that carried out ${step.name} was lost ${interruptions} times. Does the step bring its node down?`;
    return failStep(draft, step, step.input, { code: "Interrupted", message });
  }
  draft.record({ type: "step.interrupted", step: step.name, visit: step.visit, attempt: step.attempt });
  startAttempt(draft, { ...step, interruptions });
  return undefined;
}

function startAttempt(draft: JobDraft, step: StartedStep): void {
  const attempt = step.attempt + 1;
  draft.record({ type: "step.attemptStarted", step: step.name, visit: step.visit, attempt });
  draft.call({ ...step, attempt }, step.input, step);
}

/** Any node may take the call now. One that had not begun keeps its number. */
function handBack(draft: JobDraft, step: CallingStep, begun: boolean): undefined {
  const { name, visit, attempt } = step;
  draft.record({ type: "step.handedBack", step: name, visit, attempt });
  draft.moveTo({ ...step, phase: "retrying", attempt: begun ? attempt : attempt - 1, wakeAt: draft.at });
  return undefined;
}

function receiveEvent(draftFor: DraftFor, plan: Plan, job: Job, fact: EventReceived): Change {
  const { state } = job;
  if (state.status !== "PENDING" && state.status !== "RUNNING") {
    return rejected(job, `The job is ${state.status} and takes no more events.`);
  }
  const { eventId, payload } = fact;
  const listing = plan.waitsByEventId.get(eventId) ?? [];
  const problems = checkPayload(listing, eventId, payload);
  if (problems.length > 0) {
    return invalid(job, `The payload does not fit what this version defines for ${eventId}.`, problems);
  }
  const sentFor = addressOf(plan, state, fact);
  if (sentFor.type === "wrong") return invalid(job, "The event cannot be for that step.", [sentFor.problem]);
  if (sentFor.type === "over") return rejected(job, sentFor.detail);
  const address = sentFor.type === "one" ? { step: sentFor.step, visit: sentFor.visit } : undefined;
  const { progress } = state;
  const waiting = state.status === "RUNNING" && state.step.phase === "waiting" ? state.step : undefined;
  const awaiting =
    waiting !== undefined &&
    listing.some(({ name }) => name === waiting.name) &&
    (address === undefined || (address.step === waiting.name && address.visit === waiting.visit))
      ? waiting
      : undefined;
  const warnings = unreadParts(listing, eventId, payload);
  const draft = draftFor(progress);
  const keptAs = listing.length === 0 ? fact.keptAs : keptBefore(progress, eventId, address, awaiting);
  if (keptAs !== null) {
    draft.changeEvent({ type: "repeated", eventNumber: keptAs, at: fact.at });
    return { ...draft.finish({ type: "event", outcome: "duplicate", warnings }), job };
  }
  const full = noRoomForEvent(progress, listing.length > 0, draft.limits);
  if (full !== undefined)
    return { ...ignored(job), verdict: { type: "rejected", code: "RateLimitError", detail: full } };
  const outcome = awaiting !== undefined ? "matched" : listing.length > 0 ? "buffered" : "unmatched";
  keepEvent(draft, fact, address, outcome);
  draft.state = { ...state, progress: draft.progress };
  if (awaiting !== undefined) {
    const step = draft.step(awaiting.name);
    const next = completeWait(draft, step, awaiting, awaiting.input);
    if (next === "waiting") draft.moveTo({ ...awaiting, missingEventIds: missingEventIds(draft, step, awaiting) });
    else runFrom(draft, next);
  }
  return draft.finish({ type: "event", outcome, warnings });
}

/** Unmatched events are counted apart: a sender with a wrong id must not keep the events away that the job waits for. */
function noRoomForEvent(progress: Progress, isListed: boolean, { maxEvents }: JobLimits): string | undefined {
  const { eventCount, unmatchedCount = 0 } = progress;
  if (!isListed) {
    return unmatchedCount < maxEvents
      ? undefined
      : `The job holds ${maxEvents} events that no step of its version lists, the most that one job may. Check the event id: GET …/jobs/{jobId}/explain names what the job waits for.`;
  }
  return eventCount - unmatchedCount < maxEvents
    ? undefined
    : `The job holds ${maxEvents} events that steps of its version list, the most that one job may.`;
}

/**
 * The number under which the event is kept already. A wait that has the id needs it no second time, whichever way it was sent; what
 * was sent for other waits is no repetition of it.
 */
function keptBefore(
  progress: Progress,
  eventId: string,
  address: WaitVisit | undefined,
  awaiting: WaitingStep | undefined,
): number | null {
  const inWait = awaiting === undefined ? undefined : keptFor(progress, eventId, waitVisitOf(awaiting));
  const elsewhere =
    address === undefined ? getOwn(progress.bufferedEvents, eventId) : addressedTo(progress, eventId, address);
  return inWait ?? elsewhere ?? null;
}

/** Events are kept whether or not anything awaits them. */
function keepEvent(
  draft: JobDraft,
  fact: EventReceived,
  address: WaitVisit | undefined,
  outcome: "matched" | "buffered" | "unmatched",
): void {
  const { eventId, payload, sentBy, at } = fact;
  const eventNumber = draft.progress.eventCount + 1;
  draft.record({ type: "event.received", eventId, eventNumber, outcome });
  draft.changeEvent({ type: "kept", eventNumber, eventId, payload, address, outcome, sentBy, at });
  const counted = { ...draft.progress, eventCount: eventNumber };
  const isBare = payload === undefined;
  if (!isBare) draft.payloads = new Map([...draft.payloads, [eventNumber, { value: payload }]]);
  draft.progress =
    outcome === "unmatched"
      ? { ...counted, unmatchedCount: (counted.unmatchedCount ?? 0) + 1 }
      : noteEvent(counted, { eventId, eventNumber, address, isBare });
}

function wake(draftFor: DraftFor, job: Job, at: Timestamp): Change {
  const { state } = job;
  const wakeAt = wakeAtOf(state);
  if (wakeAt === null || wakeAt > at) return ignored(job);
  if (state.status === "PENDING") {
    const draft = draftFor(state.progress);
    begin(draft, state.resumeAt);
    return draft.finish();
  }
  if (state.status !== "RUNNING") return ignored(job);
  const draft = draftFor(state.progress);
  runFrom(draft, wakeStep(draft, state));
  return draft.finish();
}

function wakeStep(draft: JobDraft, { step }: RunningState): Next | undefined {
  switch (step.phase) {
    case "next":
      return { name: step.name, previousOutput: step.previousOutput };
    case "retrying":
      startAttempt(draft, step);
      return undefined;
    case "waiting": {
      const seconds = (draft.at - step.since) / 1000;
      const message = `${step.name} waited ${seconds.toFixed(1)} s for its events, and they did not all come.`;
      return failStep(draft, step, step.input, { code: "Timeout", message });
    }
    case "calling":
      return undefined;
  }
}

function cancel(draftFor: DraftFor, job: Job, fact: JobCancelled): Change {
  const { state } = job;
  if (state.status === "CANCELLED") return ignored(job);
  if (state.status !== "PENDING" && state.status !== "RUNNING") {
    return rejected(job, `The job is ${state.status}, which is final.`);
  }
  const draft = draftFor(state.progress);
  draft.record({ type: "job.cancelled", by: fact.by });
  draft.state = {
    status: "CANCELLED",
    progress: state.progress,
    resumeAt: state.status === "PENDING" ? state.resumeAt : resumePointOf(state),
  };
  return draft.finish();
}

function resumePointOf({ step }: RunningState): ResumePoint {
  if (step.phase !== "next") {
    return { phase: "in", name: step.name, visit: step.visit, attempt: step.attempt, input: step.input };
  }
  const { wakeAt: _, ...point } = step;
  return point;
}

/** Back to PENDING and on from the step that failed: the same visit (and so the same idempotency key), a new attempt. */
function resume(draftFor: DraftFor, job: Job, fact: JobResumed): Change {
  const { state } = job;
  if (state.status !== "FAILED" && state.status !== "CANCELLED") {
    return rejected(job, `The job is ${state.status}; only a FAILED or CANCELLED job can be resumed.`);
  }
  const draft = draftFor(state.progress);
  draft.record({ type: "job.resumed", by: fact.by });
  draft.state = { status: "PENDING", progress: state.progress, resumeAt: state.resumeAt, wakeAt: fact.at };
  return draft.finish();
}

function ignored(job: Job): Change {
  return { job, entries: [], events: [], effects: [], verdict: { type: "ignored" } };
}

function invalid(job: Job, detail: string, problems: readonly Problem[]): Change {
  return { ...ignored(job), verdict: { type: "rejected", code: "ValidationError", detail, problems } };
}

function rejected(job: Job, detail: string): Change {
  const verdict: Verdict = { type: "rejected", code: "ConflictError", detail };
  return { ...ignored(job), verdict };
}

function unreachable(fact: never): never {
  throw new Error(`No such fact: ${JSON.stringify(fact)}`);
}
