import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { getOwn, withOwn } from "../json/record.ts";
import type { PlanStep } from "../plan/plan.ts";
import type { Problem } from "../problem.ts";
import { checkValue } from "../schema/schema.ts";
import type { JobDraft } from "./draft.ts";
import { payloadsFor } from "./event-payloads.ts";
import type { Progress, ResumePoint, StepError, StepPosition, WaitVisit } from "./job-state.ts";
import { forgetEvents, keptFor } from "./kept-events.ts";
import { waitOutput } from "./wait-output.ts";

/** A step to enter, and the latest output on the way to it (undefined before the first). */
export interface Next {
  readonly name: string;
  readonly previousOutput: JsonValue | undefined;
}

/** Bounds one commit, as the size of what it writes does: a chain of thousands of no-ops goes on in the next one, and other jobs get their turn. */
const maxStepsPerCommit = 200;

/** Enters steps one after the other until the job must wait for the outside, or has ended. */
export function runFrom(draft: JobDraft, first: Next | undefined): void {
  let next = first;
  for (let count = 0; next !== undefined; count += 1) {
    if (count === maxStepsPerCommit || draft.isLarge || lacksPayloads(draft, next.name)) {
      draft.moveTo({ ...nextPoint(next), wakeAt: draft.at });
      return;
    }
    next = enterStep(draft, next);
  }
}

/** Whether the next commit must read payloads before the job enters this step. It does so for the step that a job is on its way to. */
function lacksPayloads(draft: JobDraft, name: string): boolean {
  const kept = payloadsFor(draft.progress, draft.step(name), nextVisit(draft, name));
  return kept.some((eventNumber) => !draft.payloads.has(eventNumber));
}

function nextVisit({ progress }: JobDraft, name: string): number {
  return (getOwn(progress.visits, name) ?? 0) + 1;
}

function enterStep(draft: JobDraft, next: Next): Next | undefined {
  const step = draft.step(next.name);
  if (draft.progress.stepRunCount >= draft.limits.maxStepRuns) {
    const message = `The job entered ${draft.limits.maxStepRuns} steps, the most that one job may: is there a loop that never ends?`;
    draft.fail(nextPoint(next), 0, { code: "StepLimitExceeded", message });
    return undefined;
  }
  const visit = nextVisit(draft, step.name);
  const input = receivedInput(draft, step, next.previousOutput);
  const { lastOutput: _, ...progress } = draft.progress;
  draft.progress = {
    ...progress,
    stepRunCount: progress.stepRunCount + 1,
    visits: withOwn(progress.visits, step.name, visit),
    ...(step.failureReadsLastOutput && next.previousOutput !== undefined && { lastOutput: next.previousOutput }),
  };
  draft.record({ type: "step.started", step: step.name, visit, input: draft.storedInput(input) });
  return beginStep(draft, step, { name: step.name, visit, attempt: 1 }, input);
}

/**
 * What a step without a mapping receives: at the start the job's input; later, with a closed input definition, each declared
 * property from the latest output that had it, else from the job's input; with an open one the latest output whole. What a wait step
 * gives, and no event brought in its latest visit, is in neither place.
 */
function receivedInput(draft: JobDraft, step: PlanStep, previousOutput: JsonValue | undefined): JsonValue {
  const jobInput = draft.job.input;
  if (draft.progress.stepRunCount === 0) return jobInput;
  if (step.inputProperties === undefined) return orElse(previousOutput, jobInput);
  const taken: JsonObject = {};
  const { properties, absentProperties } = draft.progress;
  const absent = new Set(absentProperties);
  for (const property of step.inputProperties) {
    const fallback = absent.has(property) ? undefined : getOwn(jobInput, property);
    const value = orElse(getOwn(properties, property), fallback);
    if (value !== undefined)
      Object.defineProperty(taken, property, { value, enumerable: true, configurable: true, writable: true });
  }
  return [previousOutput, jobInput].find((known) => holdsTheSame(known, taken)) ?? taken;
}

/** Compares the properties' values by reference. What is known already is written once, however many steps take it. */
function holdsTheSame(known: JsonValue | undefined, taken: JsonObject): boolean {
  if (!isJsonObject(known)) return false;
  const names = Object.keys(taken);
  return names.length === Object.keys(known).length && names.every((name) => getOwn(known, name) === taken[name]);
}

/** Null is a value: an output that says null has the property. */
function orElse<Fallback>(value: JsonValue | undefined, fallback: Fallback): JsonValue | Fallback {
  return value === undefined ? fallback : value;
}

/** Also the way back into a step whose job is resumed, or whose attempt was lost before it began. */
export function beginStep(draft: JobDraft, step: PlanStep, position: StepPosition, input: JsonValue): Next | undefined {
  const problems = checkValue(step.inputSchema, input);
  if (problems.length > 0) return failStep(draft, position, input, mismatch("InputMismatch", step.name, problems));
  switch (step.behaviour) {
    case "pass":
      return completeStep(draft, position, input, input);
    case "wait":
      return beginWait(draft, step, position, input);
    case "call":
      draft.call(position, input, { failedAttempts: 0, interruptions: 0 });
      return undefined;
  }
}

/** An output is here: checks it, remembers what later steps may take from it, and answers where the job goes. */
export function completeStep(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  output: JsonValue,
  consumed: readonly number[] = [],
  outputSchema = draft.step(position.name).outputSchema,
): Next | undefined {
  const step = draft.step(position.name);
  const problems = checkValue(outputSchema, output);
  if (problems.length > 0) return failStep(draft, position, input, mismatch("OutputMismatch", step.name, problems));
  draft.record({
    type: "step.succeeded",
    step: position.name,
    visit: position.visit,
    attempt: position.attempt,
    output: draft.storedOutput(output, input),
    ...(consumed.length > 0 && { consumed }),
  });
  draft.progress = carriedOn(draft.progress, step, output, draft.job.input);
  if (step.transitionToStep === null) {
    draft.succeed();
    return undefined;
  }
  return { name: step.transitionToStep, previousOutput: output };
}

/**
 * Keeps only what some later step may still read, so that a long job does not rewrite its whole past with every step. Of what a wait step
 * takes from its events alone and did not get, it keeps that it is absent, where the job's input would otherwise pass for it.
 */
function carriedOn(progress: Progress, step: PlanStep, output: JsonValue, jobInput: JsonObject): Progress {
  const { properties: before, absentProperties, ...others } = progress;
  const absentBefore = new Set(absentProperties);
  const source = isJsonObject(output) ? output : {};
  const carried: [string, JsonValue][] = [];
  const absent: string[] = [];
  for (const property of step.livePropertiesAfter) {
    const isFromEvents = step.payloadRule?.fromEvents.has(property) ?? false;
    const value = orElse(getOwn(source, property), isFromEvents ? undefined : getOwn(before, property));
    if (value !== undefined) carried.push([property, value]);
    else if (isFromEvents ? Object.hasOwn(jobInput, property) : absentBefore.has(property)) absent.push(property);
  }
  const properties = Object.fromEntries(carried);
  return absent.length === 0 ? { ...others, properties } : { ...others, properties, absentProperties: absent };
}

/** The step has failed for good: its `onFailure` takes over, or the job fails. */
export function failStep(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  error: StepError,
): Next | undefined {
  const { name: step, visit, attempt } = position;
  const handler = draft.step(step).onFailure;
  draft.record({ type: "step.failed", step, visit, attempt, error, ...(handler !== undefined && { next: handler }) });
  if (handler !== undefined) {
    // No job comes back to this visit, so that what was sent for it alone can never count.
    draft.progress = forgetEvents(draft.progress, new Set(), waitVisitOf(position));
    return { name: handler, previousOutput: draft.progress.lastOutput };
  }
  draft.fail({ phase: "in", name: step, visit, attempt, input }, attempt, error);
  return undefined;
}

function beginWait(draft: JobDraft, step: PlanStep, position: StepPosition, input: JsonValue): Next | undefined {
  const completed = completeWait(draft, step, position, input);
  if (completed !== "waiting") return completed;
  const rule = waitRuleOf(step);
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
    wakeAt: timeoutAt,
    missingEventIds: missingEventIds(draft, step, position),
  });
  return undefined;
}

export function missingEventIds({ progress }: JobDraft, step: PlanStep, position: StepPosition): string[] {
  const visit = waitVisitOf(position);
  return waitRuleOf(step).eventIds.filter((eventId) => keptFor(progress, eventId, visit) === undefined);
}

export function waitVisitOf({ name, visit }: StepPosition): WaitVisit {
  return { step: name, visit };
}

/**
 * Goes on if and only if enough of the awaited events are here, and consumes those: the next visit needs new ones. So does a resumed job
 * whose wait failed for what its events brought: it waits anew, and better ones let it go on.
 */
export function completeWait(
  draft: JobDraft,
  step: PlanStep,
  position: StepPosition,
  input: JsonValue,
): Next | undefined | "waiting" {
  const { eventIds, requiredCount } = waitRuleOf(step);
  const visit = waitVisitOf(position);
  const consumed = eventIds.flatMap((eventId) => {
    const eventNumber = keptFor(draft.progress, eventId, visit);
    return eventNumber === undefined ? [] : { eventId, eventNumber };
  });
  if (consumed.length < requiredCount) return "waiting";
  const numbers = consumed.map(({ eventNumber }) => eventNumber);
  for (const eventNumber of numbers) draft.changeEvent({ type: "consumed", eventNumber, ...visit, at: draft.at });
  const made = waitOutput(step, input, consumed, {
    payloadOf: (eventNumber) => draft.payloadOf(eventNumber),
    maxBytes: draft.limits.maxOutputBytes,
  });
  draft.progress = forgetEvents(draft.progress, new Set(numbers), visit);
  if ("error" in made) return failStep(draft, position, input, made.error);
  return completeStep(draft, position, input, made.output, numbers, made.outputSchema);
}

function waitRuleOf(step: PlanStep): NonNullable<PlanStep["wait"]> {
  if (step.wait === undefined) throw new Error(`Step ${step.name} waits for nothing.`);
  return step.wait;
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
