import type { Actor } from "../actor.ts";
import { mainBranch, parentOf } from "../branch-path.ts";
import { nextAttemptInMs, policyAfter } from "../definition/failures/retry.ts";
import { callOf, isFork, type Plan } from "../plan/plan.ts";
import type { Problem } from "../problem.ts";
import { checkValue } from "../schema/schema.ts";
import type { Timestamp } from "../time.ts";
import { type BranchResults, noResults } from "./branch-result.ts";
import { callingStep } from "./call.ts";
import { type DraftFor, JobDraft, type JobLimits } from "./draft.ts";
import { dueCursors } from "./due-cursors.ts";
import { receiveEvent } from "./event-received.ts";
import { awaitedBy, type EventPayloads, noPayloads } from "./events/event-payloads.ts";
import type {
  CallOutcome,
  Change,
  Fact,
  JobCancelled,
  JobResumed,
  ParentCalled,
  ParentLeft,
  StepFailed,
} from "./fact.ts";
import { resumeFork, wakeFork } from "./fork.ts";
import { isLostTooOften } from "./interruptions.ts";
import {
  type CurrentStep,
  type Cursors,
  type Job,
  jobTimeoutType,
  type ParentStep,
  type Progress,
  type ResumePoint,
  type RunningState,
  type StartedStep,
  timeoutAtOf,
  type UnfinishedState,
  wakeAtOf,
} from "./job-state.ts";
import { offerFreedEvents } from "./open-waits.ts";
import { type AnyCursor, resumePointOf, stopped } from "./resume-point.ts";
import { renderInput } from "./step-input.ts";
import { beginStep, callStep, completeStep, completeWait, failStep, goOn, type Next, runFrom } from "./step-run.ts";
import { ignored, rejected } from "./verdicts.ts";

/**
 * The state machine: it applies one fact to one job. It is pure: the time comes with the fact, and calls to the outside are returned as effects. When
 * a change has no entries, the job is not written.
 */
export function transition(
  plan: Plan,
  job: Job,
  fact: Fact,
  limits: JobLimits,
  payloads: EventPayloads = noPayloads,
  results: BranchResults = noResults,
): Change {
  const draftFor = (state: UnfinishedState) =>
    new JobDraft(plan, { ...job, state }, limits, fact.at, payloads, results);
  switch (fact.type) {
    case "step.succeeded":
      return withCall(draftFor, job, fact, (draft, step) =>
        completeStep(draft, step, step.input, { value: fact.output }),
      );
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
    case "parent.called":
      return calledByParent(draftFor, job, fact);
    case "parent.left":
      return leftByParent(draftFor, job, fact);
    default:
      return unreachable(fact);
  }
}

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

/** The parent's step that makes this job, and the epoch of the parent's call that waits for this job. The epoch is undefined when no call waits. */
export interface Parent extends ParentStep {
  readonly epoch: number | undefined;
}

export interface Submission extends JobIdentity {
  readonly at: Timestamp;
  /**
   * False while the node has no room for another call. A job that begins with branches, or with a call that is not a task, then stays PENDING until a
   * node has room.
   */
  readonly hasRoomForCall: boolean;
  /** Left out when no other job makes this job. */
  readonly madeBy?: Parent;
}

/** Makes a new job and runs it until it must wait or ends. If its input has problems, returns the problems instead, with pointers into the input. */
export function submitJob(
  plan: Plan,
  submission: Submission,
  limits: JobLimits,
): Change | { problems: readonly Problem[] } {
  const { hasRoomForCall, at, madeBy, ...identity } = submission;
  const { epoch, ...parent } = madeBy ?? { epoch: undefined };
  const progress: Progress = {
    stepRunCount: 0,
    bufferedEvents: {},
    ...(epoch !== undefined && { awaitedBy: epoch }),
    eventCount: 0,
  };
  const start = { branch: mainBranch, carried: { visits: {}, properties: {} }, stand: null };
  const job = {
    ...identity,
    parent: "jobId" in parent ? parent : null,
    createdAt: at,
    startedAt: null,
    updatedAt: at,
    finishedAt: null,
    sequence: 0,
    leaseEpoch: 0,
    state: { status: "PENDING", progress, cursors: [start], wakeAt: at },
  } as const;
  const draft = new JobDraft(plan, job, limits, at);
  const problems = problemsOfInput(draft);
  if (problems.length > 0) return { problems };
  draft.record({ type: "job.submitted", by: submission.submittedBy });
  const call = callOf(plan.firstStep);
  const needsRoom = isFork(plan.firstStep) || (call !== undefined && call.by !== "worker");
  if (hasRoomForCall || !needsRoom) begin(draft, job.state.cursors);
  return draft.finish();
}

/**
 * The job's input must fit the input definition of the first step. If that step has an `input` template, the template's value must fit instead.
 */
function problemsOfInput(draft: JobDraft): readonly Problem[] {
  const { firstStep } = draft.plan;
  if (firstStep.inputRule.kind !== "template") return checkValue(firstStep.inputSchema, draft.job.input);
  const received = renderInput(draft, firstStep, firstStep.inputRule.template);
  if ("error" in received) return [{ pointer: "", detail: received.error.message }];
  const problems = checkValue(firstStep.inputSchema, received.value);
  const maker = `the template \`input\` of ${firstStep.name} turns it into a value`;
  return problems.map(({ pointer, detail }) => ({
    pointer: "",
    detail: `${maker} that does not fit: ${pointer === "" ? "the whole value" : pointer} ${detail}`,
  }));
}

/**
 * Lets the job begin, or lets each branch continue from where it stopped, the outer branches first. A branch is left out if an earlier branch has
 * ended this branch or has failed its fork.
 */
function begin(draft: JobDraft, cursors: Cursors<ResumePoint | null>): void {
  draft.start();
  const known = cursors.map((cursor) => draft.cursorOf(cursor.branch));
  for (const cursor of known) if (cursor !== undefined) resumeBranch(draft, cursor);
}

function resumeBranch(draft: JobDraft, cursor: AnyCursor): void {
  if (draft.isOver || draft.cursorOf(cursor.branch) !== cursor) return;
  const { branch, stand } = cursor;
  if (branch !== mainBranch) draft.enter(branch);
  if (stand === null) runFrom(draft, { name: draft.plan.firstStep.name, previousOutput: undefined });
  else if (stand.phase === "in" || stand.phase === "next" || stand.phase === "forked") {
    if (isForLater(draft, branch)) draft.moveTo({ phase: "stopped", name: stand.name, point: stand, wakeAt: draft.at });
    else runFrom(draft, reenter(draft, stand));
  }
}

/**
 * Whether a branch must wait for the next commit: because this commit has done enough, because the values of the branch or of a branch around it were
 * not read, or because the branch around it waits as well.
 */
function isForLater(draft: JobDraft, branch: string): boolean {
  if (branch === mainBranch) return false;
  return draft.work.isEnough || !draft.isRead(branch) || draft.standOf(parentOf(branch))?.phase !== "forked";
}

function reenter(draft: JobDraft, point: ResumePoint): Next | undefined {
  if (point.phase === "next") return { name: point.name, previousOutput: point.previousOutput };
  if (point.phase === "forked") return goOn(draft, resumeFork(draft, point));
  draft.work.enterStep();
  const position = { name: point.name, visit: point.visit, attempt: point.attempt + 1 };
  draft.record({ type: "step.attemptStarted", step: position.name, visit: position.visit, attempt: position.attempt });
  const step = draft.step(point.name);
  if (point.isInputMissing !== true || step.inputRule.kind !== "template")
    return beginStep(draft, step, position, point.input, point.delayEndsAt);
  const input = renderInput(draft, step, step.inputRule.template);
  return "value" in input
    ? beginStep(draft, step, position, input.value)
    : failStep(draft, position, point.input, input.error, true);
}

/** Applies the outcome of a call, if the job still waits for that call. */
function withCall(
  draftFor: DraftFor,
  job: Job,
  call: CallOutcome,
  apply: (draft: JobDraft, step: StartedStep) => Next | undefined,
): Change {
  const { state } = job;
  const calling = callingStep(state, call);
  if (state.status !== "RUNNING" || calling === undefined) return late(job, call);
  const { phase: _, epoch: __, ...step } = calling;
  const draft = draftFor(state);
  if (call.by === "worker" && callOf(draft.step(step.name))?.by !== "worker") return late(job, call);
  if (call.branch !== mainBranch) draft.enter(call.branch);
  runFrom(draft, apply(draft, step));
  offerFreedEvents(draft);
  return draft.finish();
}

/** Makes the change for an outcome that came too late. A node need not know this. A worker is told that its work was not used. */
function late(job: Job, { by }: CallOutcome): Change {
  return by === "worker" ? rejected(job, lateTask) : ignored(job);
}

/** The message for a worker about a task that it does not hold, or no longer holds. */
export const lateTask =
  "You do not hold this task any more: its lease or its time has ended, its job or branch has ended, or its outcome was reported already. Stop working on it; the service hands it out again if necessary.";

function retryOrFail(draft: JobDraft, step: StartedStep, fact: StepFailed): Next | undefined {
  const { error, kind, retryAfterMs } = fact.failure;
  const failedAttempts = step.failedAttempts + (kind === "postponed" ? 0 : 1);
  const policy = policyAfter(callOf(draft.step(step.name))?.retry, error, kind === "transient");
  const byPolicy =
    kind === "permanent" || policy === undefined
      ? undefined
      : nextAttemptInMs(policy, failedAttempts, fact.random, retryAfterMs);
  const waitMs = kind === "postponed" ? retryAfterMs : byPolicy;
  if (waitMs === undefined) return failStep(draft, step, step.input, error);
  const retryAt = fact.at + waitMs;
  const { name, visit, attempt } = step;
  draft.record({ type: "step.attemptFailed", step: name, visit, attempt, error, retryAt });
  draft.moveTo({ ...step, phase: "retrying", failedAttempts, wakeAt: retryAt });
  return undefined;
}

function callAgain(draft: JobDraft, step: StartedStep, isNodeDead: boolean): Next | undefined {
  const interruptions = step.interruptions + (isNodeDead ? 1 : 0);
  const holder = callOf(draft.step(step.name))?.by === "worker" ? "worker" : "node";
  if (isLostTooOften(holder, interruptions)) {
    const message = `The ${holder} that carried out ${step.name} was lost ${interruptions} times. Check whether the step crashes its ${holder}.`;
    return failStep(draft, step, step.input, { code: "Interrupted", message });
  }
  draft.record({ type: "step.interrupted", step: step.name, visit: step.visit, attempt: step.attempt });
  return startAttempt(draft, { ...step, interruptions });
}

function startAttempt(draft: JobDraft, step: StartedStep): Next | undefined {
  const attempt = step.attempt + 1;
  draft.record({ type: "step.attemptStarted", step: step.name, visit: step.visit, attempt });
  const planStep = draft.step(step.name);
  const work = callOf(planStep);
  if (work === undefined) throw new Error(`Step ${step.name} calls nothing.`);
  return callStep(draft, planStep, work, { ...step, attempt }, step.input, step);
}

/** Lets any node or worker take the call. An attempt that had not begun keeps its number. */
function handBack(draft: JobDraft, step: StartedStep, begun: boolean): Next | undefined {
  const { name, visit, attempt } = step;
  draft.record({ type: "step.handedBack", step: name, visit, attempt });
  const before = { ...step, attempt: begun ? attempt : attempt - 1 };
  // A task needs no room on a node, so it returns to a queue at once.
  if (callOf(draft.step(name))?.by === "worker") return startAttempt(draft, before);
  draft.moveTo({ ...before, phase: "retrying", wakeAt: draft.at });
  return undefined;
}

function wake(draftFor: DraftFor, job: Job, at: Timestamp): Change {
  const { state } = job;
  const timeoutAt = timeoutAtOf(state);
  if (state.status === "RUNNING" && timeoutAt !== null && timeoutAt <= at) {
    const draft = draftFor(state);
    timeOut(draft, state);
    return draft.finish();
  }
  const wakeAt = wakeAtOf(state);
  if (wakeAt === null || wakeAt > at) return ignored(job);
  if (state.status === "PENDING") {
    const draft = draftFor(state);
    begin(draft, state.cursors);
    offerFreedEvents(draft);
    return draft.finish();
  }
  if (state.status !== "RUNNING") return ignored(job);
  const draft = draftFor(state);
  const due = dueCursors(state.cursors, at);
  for (const cursor of due) {
    // An earlier branch in this loop may have ended this branch, or its fork.
    if (draft.isOver || draft.cursorOf(cursor.branch) !== cursor || isForLater(draft, cursor.branch)) continue;
    if (cursor.branch !== draft.branch) draft.enter(cursor.branch);
    runFrom(draft, wakeStep(draft, cursor.stand));
  }
  offerFreedEvents(draft);
  return draft.finish();
}

/**
 * Fails a job that has used up its whole time. No step can handle this error. If the main line is in a step, this step fails too. Calls that are
 * under way are given up, and their outcomes are dropped.
 */
function timeOut(draft: JobDraft, { cursors: [{ stand }] }: RunningState): void {
  const seconds = (draft.plan.timeoutMs ?? 0) / 1000;
  const message = `The job was not done after ${seconds} s, the \`timeoutSeconds\` of its definition.`;
  const error = { code: "Timeout", type: jobTimeoutType, message } as const;
  if (stand.phase === "next" || stand.phase === "stopped") {
    draft.fail(resumePointOf(stand), 0, error);
    return;
  }
  const { name, visit, attempt } = stand;
  draft.record({ type: "step.failed", step: name, visit, attempt, error });
  draft.fail(resumePointOf(stand), attempt, error);
}

function wakeStep(draft: JobDraft, step: CurrentStep): Next | undefined {
  switch (step.phase) {
    case "next":
      return { name: step.name, previousOutput: step.previousOutput };
    case "retrying":
      return startAttempt(draft, step);
    case "forked":
      return goOn(draft, wakeFork(draft, step));
    case "waiting": {
      const waitStep = draft.waitStep(step.name);
      const completed = completeWait(draft, waitStep, step, step.input, awaitedBy(waitStep, step));
      // The step stays as it is. It is still due, so the next commit reads its payloads.
      if (completed === "unread") return undefined;
      if (completed !== "waiting") return completed;
      const seconds = (draft.at - step.since) / 1000;
      const message = `${step.name} waited ${seconds.toFixed(1)} s for its events, and not enough of them came.`;
      return failStep(draft, step, step.input, { code: "Timeout", message });
    }
    case "delayed":
      return completeStep(draft, step, step.input, { value: step.input });
    case "stopped":
      return step.wakeAt === undefined ? undefined : reenter(draft, step.point);
    case "calling":
      return undefined;
  }
}

function cancel(draftFor: DraftFor, job: Job, fact: JobCancelled): Change {
  const { state } = job;
  if (state.status === "CANCELLED") return ignored(job);
  if (state.status !== "PENDING" && state.status !== "RUNNING") {
    return rejected(job, `The job has ended with ${state.status}, so there is nothing to cancel.`);
  }
  const draft = draftFor(state);
  draft.record({ type: "job.cancelled", by: fact.by });
  const { progress } = state;
  draft.end({
    status: "CANCELLED",
    progress,
    cursors: state.status === "PENDING" ? state.cursors : stopped(state.cursors),
  });
  return draft.finish();
}

/**
 * Makes the job PENDING again. It continues where it stopped. Steps that failed or were cancelled get new attempts of the same visits, with the same
 * idempotency keys.
 */
function resume(draftFor: DraftFor, job: Job, fact: JobResumed): Change {
  const { state } = job;
  if (state.status !== "FAILED" && state.status !== "CANCELLED") {
    return rejected(job, `The job is ${state.status}; only a FAILED or CANCELLED job can be resumed.`);
  }
  const draft = draftFor(state);
  draft.record({ type: "job.resumed", by: fact.by });
  draft.end({ status: "PENDING", progress: state.progress, cursors: state.cursors, wakeAt: fact.at });
  return draft.finish();
}

/**
 * Continues a child when its parent's step asks for it again. A child that failed or was cancelled is resumed. A child that is under way continues,
 * and its outcome goes to the new call. If the step does not wait for the child (no `epoch`), nothing changes, even if the child was cancelled. Such
 * a step only needs a child that exists.
 */
function calledByParent(draftFor: DraftFor, job: Job, { at, epoch }: ParentCalled): Change {
  const { state } = job;
  if (state.status === "SUCCEEDED" || epoch === undefined) return ignored(job);
  const draft = draftFor(state);
  draft.progress = { ...state.progress, awaitedBy: epoch };
  if (state.status === "FAILED" || state.status === "CANCELLED") {
    draft.record({ type: "job.resumed", by: parentActor });
    draft.end({ status: "PENDING", progress: draft.progress, cursors: state.cursors, wakeAt: at });
  } else draft.record({ type: "job.awaited" });
  return draft.finish();
}

/** Cancels a child for which its parent does not wait any more. The parent gets no notice of this end. */
function leftByParent(draftFor: DraftFor, job: Job, { at, epoch }: ParentLeft): Change {
  const { state } = job;
  if ((state.status !== "PENDING" && state.status !== "RUNNING") || state.progress.awaitedBy !== epoch) {
    return ignored(job);
  }
  const { awaitedBy: _, ...progress } = state.progress;
  return cancel(draftFor, { ...job, state: { ...state, progress } }, { type: "job.cancelled", at, by: parentActor });
}

/** The actor in a job's history for actions of its parent. */
const parentActor: Actor = { type: "service", id: "parent job" };

function unreachable(fact: never): never {
  throw new Error(`No such fact: ${JSON.stringify(fact)}`);
}
