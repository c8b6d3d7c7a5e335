import { branchField, mainBranch } from "../branch-path.ts";
import type { Resolvable } from "../definition/config-template.ts";
import { type Delay, delayEnd } from "../definition/delay.ts";
import { handlerOf } from "../definition/failures/failure-handlers.ts";
import type { CallWork } from "../definition/step-work.ts";
import { isChoice } from "../definition/transition.ts";
import type { EventValues } from "../expression/expression.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { getOwn, withOwn } from "../json/record.ts";
import { isFork, isWait, type PlanStep, type WaitPlanStep } from "../plan/plan.ts";
import type { Problem } from "../problem.ts";
import { checkValue, type Schema } from "../schema/schema.ts";
import type { Timestamp } from "../time.ts";
import { maxResultNumbers } from "./branch-result.ts";
import type { JobDraft } from "./draft.ts";
import { payloadsAmong, payloadsFor } from "./events/event-payloads.ts";
import { addressedTo, claimEvents, forgetEvents, keptFor } from "./events/kept-events.ts";
import { choose, configValue, render } from "./expressions.ts";
import {
  beginFork,
  beginNextBranch,
  endBranch,
  endFork,
  type ForkOutcome,
  failBranch,
  leaveRoomForLater,
} from "./fork.ts";
import { type Made, scopeOf } from "./job-scope.ts";
import type { AwaitedEvents, Carried, Progress, ResumePoint, StepError, StepPosition, WaitVisit } from "./job-state.ts";
import { type CallCounts, oweCall } from "./owed-call.ts";
import { resumePointOf } from "./resume-point.ts";
import { orElse, receivedInput } from "./step-input.ts";
import { remember } from "./values/remembered.ts";
import { failForAwaitedIds } from "./waits/awaited-ids.ts";
import { consumedEvents } from "./waits/consumed-events.ts";
import { waitOutput } from "./waits/wait-output.ts";

/**
 * The next step to enter, and the latest output before it in this branch. The output is undefined when there is none yet. After a failure it is also
 * undefined when no step needs the whole output.
 */
export interface Next {
  readonly name: string;
  readonly previousOutput: JsonValue | undefined;
}

/** Enters steps one after the other, also in branches that may begin, until the job must wait for the outside or the next commit, or has ended. */
export function runFrom(draft: JobDraft, first: Next | undefined): void {
  let next = first;
  while (next !== undefined || draft.forksWithRoom.length > 0) {
    if (next === undefined) {
      if (draft.isOver) return;
      const name = draft.work.isEnough ? undefined : beginNextBranch(draft);
      if (name === undefined) {
        leaveRoomForLater(draft);
        return;
      }
      next = { name, previousOutput: undefined };
      continue;
    }
    if (draft.work.isEnough || lacksPayloads(draft, next.name)) {
      draft.moveTo({ ...nextPoint(next), wakeAt: draft.at });
      next = undefined;
      continue;
    }
    draft.work.enterStep();
    next = enterStep(draft, next);
  }
}

/** Whether the next commit must read payloads before the job enters this step. */
function lacksPayloads(draft: JobDraft, name: string): boolean {
  const visit = waitVisitOf(draft, { name, visit: nextVisit(draft, name) });
  return isUnread(draft, payloadsFor(draft.progress, draft.step(name), visit));
}

function isUnread({ payloads }: JobDraft, eventNumbers: readonly number[]): boolean {
  return eventNumbers.some((eventNumber) => !payloads.has(eventNumber));
}

function nextVisit({ carried }: JobDraft, name: string): number {
  return (getOwn(carried.visits, name) ?? 0) + 1;
}

function enterStep(draft: JobDraft, next: Next): Next | undefined {
  const step = draft.step(next.name);
  const full = noRoomForStep(draft) ?? (isFork(step) ? noRoomForResults(draft) : undefined);
  if (full !== undefined) {
    draft.fail(nextPoint(next), 0, { code: "StepLimitExceeded", message: full });
    return undefined;
  }
  const excess = draft.carriedExcess;
  if (excess !== undefined) {
    draft.fail(nextPoint(next), 0, excess);
    return undefined;
  }
  const visit = nextVisit(draft, step.name);
  const received = receivedInput(draft, step, next.previousOutput);
  const { lastOutput: _, ...carried } = draft.carried;
  draft.progress = countedRun(draft, step.name);
  draft.carried = {
    ...carried,
    visits: withOwn(carried.visits, step.name, visit),
    ...(step.failureReadsLastOutput && next.previousOutput !== undefined && { lastOutput: next.previousOutput }),
  };
  const position = { name: step.name, visit, attempt: 1 };
  const input = "value" in received ? received.value : null;
  draft.record({ type: "step.started", step: step.name, visit, input: draft.storedInput(input) });
  return "value" in received
    ? beginStep(draft, step, position, input)
    : failStep(draft, position, input, received.error, true);
}

/** The bound on step runs applies to each branch. A job with branches also has a bound on the step runs of all branches together. */
function noRoomForStep({ branch, carried, progress, limits }: JobDraft): string | undefined {
  const { maxStepRuns } = limits;
  if (progress.stepRunCount < maxStepRuns) return undefined;
  const own = Object.values(carried.visits).reduce((sum, count) => sum + count, 0);
  if (own < maxStepRuns && progress.stepRunCount < maxStepRuns * branchesOfFullLength) return undefined;
  const isOfJob = own < maxStepRuns;
  const most = isOfJob ? maxStepRuns * branchesOfFullLength : maxStepRuns;
  // `stepRunCount` includes the steps of branches. When it equals `own`, no branch has run, and the main line is the whole job.
  const line = branch !== mainBranch ? "branch" : progress.stepRunCount > own ? "main line" : "job";
  const what = isOfJob ? "job" : line;
  return `The ${what} entered ${most} steps, which is the maximum of one ${what}. Check whether there is a loop that never ends.`;
}

const branchesOfFullLength = 100;

function noRoomForResults({ progress: { resultNumberCount = 0 } }: JobDraft): string | undefined {
  if (resultNumberCount < maxResultNumbers) return undefined;
  return `The branches of the job have ${maxResultNumbers} stored results, which is the maximum of one job. Check whether there is a loop that never ends.`;
}

function countedRun({ branch, progress }: JobDraft, step: string): Progress {
  const counted = { ...progress, stepRunCount: progress.stepRunCount + 1 };
  if (branch === mainBranch) return counted;
  const { branchVisits = {} } = progress;
  return { ...counted, branchVisits: withOwn(branchVisits, step, (getOwn(branchVisits, step) ?? 0) + 1) };
}

/**
 * Begins the work of a step. This is also called after a resume. `knownDelayEnd` is the end of the sleep, if the step has begun to sleep already.
 */
export function beginStep(
  draft: JobDraft,
  step: PlanStep,
  position: StepPosition,
  input: JsonValue,
  knownDelayEnd?: Timestamp,
): Next | undefined {
  const problems = checkValue(step.inputSchema, input);
  if (problems.length > 0) return failStep(draft, position, input, mismatch("InputMismatch", step.name, problems));
  switch (step.work.kind) {
    case "pass":
      return completeStep(draft, position, input, { value: input });
    case "wait":
      return beginWait(draft, draft.waitStep(step.name), position, input);
    case "delay":
      return beginDelay(draft, position, input, step.work.delay, knownDelayEnd);
    case "call":
      return callStep(draft, step, step.work, position, input, { failedAttempts: 0, interruptions: 0 });
    case "fork": {
      const outcome = beginFork(draft, draft.forkStep(step.name), position, input);
      return typeof outcome === "object" && !("fork" in outcome)
        ? failStep(draft, position, input, outcome.error)
        : goOn(draft, outcome);
    }
  }
}

/** Completes or fails the fork at which the current branch is, unless the fork is open. Returns the next step, if there is one. */
export function goOn(draft: JobDraft, outcome: ForkOutcome): Next | undefined {
  if (outcome === "open") return undefined;
  const { fork } = outcome;
  if ("error" in outcome) return failStep(draft, fork, fork.input, outcome.error);
  return completeStep(draft, fork, fork.input, { value: outcome.result });
}

/** Adds a call to the effects. When the call cannot be made, fails the step and returns the next step, if there is one. */
export function callStep(
  draft: JobDraft,
  step: PlanStep,
  work: CallWork,
  position: StepPosition,
  input: JsonValue,
  counts: CallCounts,
): Next | undefined {
  const error = oweCall(draft, step, work, position, input, counts);
  return error === undefined ? undefined : failStep(draft, position, input, error);
}

export interface Result {
  readonly value: JsonValue;
  /** The numbers of the events that the wait consumed. */
  readonly consumed?: readonly number[];
  /** The consumed events by their ids, as expressions read them. */
  readonly events?: ReadonlyMap<string, EventValues>;
  /** The schema that the output must fit instead of the step's own. Not used when an `output` template makes the output. */
  readonly outputSchema?: Schema;
}

/** Completes a step: makes its output, checks it, keeps what later steps may read, and returns the next step. */
export function completeStep(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  result: Result,
): Next | undefined {
  const step = draft.step(position.name);
  const { consumed = [], events } = result;
  const made = { step: step.name, input, result: result.value, ...(events !== undefined && { events }) };
  const output = outputOf(draft, step, made);
  if ("error" in output) return failStep(draft, position, input, output.error);
  const schema = step.outputTemplate === undefined ? (result.outputSchema ?? step.outputSchema) : step.outputSchema;
  const problems = checkValue(schema, output.value);
  if (problems.length > 0) return failStep(draft, position, input, mismatch("OutputMismatch", step.name, problems));
  const way = isChoice(step.next)
    ? choose(
        step.next,
        scopeOf(draft, { ...made, output: output.value }),
        draft.work.newBudget(draft.carried),
        step.name,
      )
    : { target: step.next };
  if ("error" in way) return failStep(draft, position, input, way.error);
  draft.record({
    type: "step.succeeded",
    step: position.name,
    visit: position.visit,
    attempt: position.attempt,
    output: draft.storedOutput(output.value, input),
    ...(consumed.length > 0 && { consumed }),
    ...(isChoice(step.next) && { next: way.target }),
  });
  if (isFork(step)) endFork(draft, position);
  const carried = carriedOn(draft, step, output.value);
  draft.carried = remember(carried, step, {
    input,
    outcome: { output: output.value },
    ...(events !== undefined && { events }),
  });
  if (way.target === null) {
    if (draft.branch !== mainBranch) return goOn(draft, endBranch(draft, output.value));
    draft.succeed(output.value);
    return undefined;
  }
  return { name: way.target, previousOutput: output.value };
}

function outputOf(
  draft: JobDraft,
  { name, outputTemplate }: PlanStep,
  made: Made & { readonly result: JsonValue },
): { readonly value: JsonValue } | { readonly error: StepError } {
  if (outputTemplate === undefined) return { value: made.result };
  return render(draft, outputTemplate, scopeOf(draft, made), { step: name, what: "`output`" });
}

/**
 * Keeps only values that a later step may still read, so that a long job does not rewrite its whole past with every step. Some properties can come
 * only from events. When no event brought such a property, its absence is recorded. Otherwise a later step would take the property from the job's
 * input, or from a branch around this one.
 */
function carriedOn(draft: JobDraft, step: PlanStep, output: JsonValue): Carried {
  const { properties: before, absentProperties, ...others } = draft.carried;
  const isElsewhere = (property: string) => draft.branch !== mainBranch || Object.hasOwn(draft.job.input, property);
  const absentBefore = new Set(absentProperties);
  const source = isJsonObject(output) ? output : {};
  const carried: [string, JsonValue][] = [];
  const absent: string[] = [];
  // With a template, the properties come from the template and not from the payload rule, so none counts as one that only events can bring.
  const fromEvents = isWait(step) && step.outputTemplate === undefined ? step.work.payloadRule?.fromEvents : undefined;
  for (const property of step.livePropertiesAfter) {
    const isFromEvents = fromEvents?.has(property) ?? false;
    const value = orElse(getOwn(source, property), isFromEvents ? undefined : getOwn(before, property));
    if (value !== undefined) carried.push([property, value]);
    else if (isFromEvents ? isElsewhere(property) : absentBefore.has(property)) absent.push(property);
  }
  const properties = Object.fromEntries(carried);
  return absent.length === 0 ? { ...others, properties } : { ...others, properties, absentProperties: absent };
}

/**
 * Fails a step, without another attempt. If the failed step's `onFailure` names a step for this error, that step takes over. Otherwise the branch
 * fails, or on the main line the job.
 */
export function failStep(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  error: StepError,
  isInputMissing = false,
): Next | undefined {
  const { name: step, visit, attempt } = position;
  const planStep = draft.step(step);
  const handler = handlerOf(planStep.onFailure, error);
  draft.record({ type: "step.failed", step, visit, attempt, error, ...(handler !== undefined && { next: handler }) });
  if (handler !== undefined) {
    // The job never returns to this visit, so no wait can use the events that were sent only for this visit.
    draft.progress = forgetEvents(draft.progress, new Set(), waitVisitOf(draft, position));
    if (isFork(planStep)) endFork(draft, position);
    draft.carried = remember(draft.carried, planStep, { input, outcome: { error } });
    return { name: handler, previousOutput: draft.carried.lastOutput };
  }
  const stand = draft.standOf(draft.branch);
  const isForked = stand?.phase === "forked" && stand.name === step && stand.visit === visit;
  const entered = { phase: "in", name: step, visit, attempt, input } as const;
  const point = isForked ? resumePointOf(stand) : isInputMissing ? { ...entered, isInputMissing } : entered;
  if (draft.branch !== mainBranch) return goOn(draft, failBranch(draft, draft.begunAt(point), error));
  draft.fail(point, attempt, error);
  return undefined;
}

function beginWait(draft: JobDraft, step: WaitPlanStep, position: StepPosition, input: JsonValue): Next | undefined {
  const { openRule } = step.work;
  const resolved = configValue(draft, openRule ?? step.work.rule, step.name, input);
  if ("error" in resolved) return failStep(draft, position, input, resolved.error);
  const rule = resolved.value;
  if (failForAwaitedIds(draft, position, input, rule)) return undefined;
  if (draft.branch !== mainBranch)
    draft.progress = claimEvents(draft.progress, rule.eventIds, waitVisitOf(draft, position));
  const completed = completeWait(draft, step, position, input, rule);
  if (completed !== "waiting" && completed !== "unread") return completed;
  const timeoutAt = rule.timeoutMs === undefined ? null : draft.at + rule.timeoutMs;
  draft.record({
    type: "step.waiting",
    step: position.name,
    visit: position.visit,
    eventIds: rule.eventIds,
    ...(timeoutAt !== null && { timeoutAt }),
  });
  const counts = { failedAttempts: 0, interruptions: 0 };
  draft.moveTo({
    phase: "waiting",
    ...position,
    input,
    ...counts,
    since: draft.at,
    // If payloads are unread, the next commit reads them and completes the wait.
    wakeAt: completed === "unread" ? draft.at : timeoutAt,
    missingEventIds: missingEventIds(draft, position, rule),
    ...(openRule !== undefined && {
      awaited: { eventIds: rule.eventIds, requiredCount: rule.requiredCount },
    }),
  });
  return undefined;
}

/** Begins a sleep. If its end has passed already, the step does not sleep. */
function beginDelay(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  delay: Delay | Resolvable<Delay>,
  knownEnd: Timestamp | undefined,
): Next | undefined {
  const { name } = position;
  const resolved = configValue(draft, delay, name, input);
  if ("error" in resolved) return failStep(draft, position, input, resolved.error);
  // A resume does not change the end of the sleep. So a step that failed after its sleep does not sleep again when it is resumed.
  const delayEndsAt = knownEnd ?? delayEnd(resolved.value, draft.visitStartedAt);
  if (delayEndsAt <= draft.at) return completeStep(draft, position, input, { value: input });
  draft.record({ type: "step.delayed", step: position.name, visit: position.visit, delayEndsAt });
  const counts = { failedAttempts: 0, interruptions: 0 };
  draft.moveTo({ phase: "delayed", ...position, input, ...counts, wakeAt: delayEndsAt });
  return undefined;
}

export function missingEventIds(draft: JobDraft, position: StepPosition, { eventIds }: AwaitedEvents): string[] {
  const visit = waitVisitOf(draft, position);
  return eventIds.filter((eventId) => usableEvent(draft, eventId, visit) === undefined);
}

/**
 * The number of the kept event that a wait of the current branch may use. Outside of the main line, the event must have been sent only for this
 * visit, or the visit must have claimed it.
 */
function usableEvent({ branch, progress }: JobDraft, eventId: string, visit: WaitVisit): number | undefined {
  return branch === mainBranch ? keptFor(progress, eventId, visit) : addressedTo(progress, eventId, visit);
}

function waitVisitOf({ branch }: JobDraft, { name, visit }: Pick<StepPosition, "name" | "visit">): WaitVisit {
  return { ...branchField(branch), step: name, visit };
}

/**
 * Completes the wait if enough of the awaited events are here. The wait consumes these events, so the next visit needs new events. If the wait fails
 * after it has consumed events, and the job is resumed, the wait needs new events too. "unread": enough events are here, but this commit has not read
 * their payloads. The next commit reads them and completes the wait.
 */
export function completeWait(
  draft: JobDraft,
  step: WaitPlanStep,
  position: StepPosition,
  input: JsonValue,
  { eventIds, requiredCount }: AwaitedEvents,
): Next | undefined | "waiting" | "unread" {
  const visit = waitVisitOf(draft, position);
  const consumed = eventIds.flatMap((eventId) => {
    const eventNumber = usableEvent(draft, eventId, visit);
    return eventNumber === undefined ? [] : { eventId, eventNumber };
  });
  if (consumed.length < requiredCount) return "waiting";
  if (isUnread(draft, payloadsAmong(draft.progress, step, consumed))) return "unread";
  const numbers = consumed.map(({ eventNumber }) => eventNumber);
  for (const eventNumber of numbers) draft.changeEvent({ type: "consumed", eventNumber, ...visit, at: draft.at });
  const events = consumedEvents(draft, step, consumed);
  draft.progress = forgetEvents(draft.progress, new Set(numbers), visit);
  if ("error" in events) return failStep(draft, position, input, events.error);
  const made = waitOutput(step, input, events, draft.limits.maxOutputBytes);
  if ("error" in made) return failStep(draft, position, input, made.error);
  return completeStep(draft, position, input, {
    value: made.output,
    consumed: numbers,
    events,
    outputSchema: made.outputSchema,
  });
}

function nextPoint(next: Next): ResumePoint & { phase: "next" } {
  const { name, previousOutput } = next;
  return { phase: "next", name, ...(previousOutput !== undefined && { previousOutput }) };
}

function mismatch(code: "InputMismatch" | "OutputMismatch", step: string, problems: readonly Problem[]): StepError {
  const side = code === "InputMismatch" ? "input" : "output";
  const listed = problems.map(({ pointer, detail }) => `${pointer === "" ? "the whole value" : pointer} ${detail}`);
  return { code, message: `The ${side} of ${step} does not fit its ${side}Definition: ${listed.join("; ")}.` };
}
