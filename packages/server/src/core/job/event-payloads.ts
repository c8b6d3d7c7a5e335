import type { JsonValue } from "../json/json.ts";
import { getOwn } from "../json/record.ts";
import type { Plan, PlanStep } from "../plan/plan.ts";
import type { UntimedFact } from "./fact.ts";
import type { CurrentStep, Job, JobState, Progress, ResumePoint, WaitVisit } from "./job-state.ts";
import { keptFor } from "./kept-events.ts";

/** What came with a kept event. `tooLarge`: the payloads for its wait are together more than one commit may read. */
export type EventPayload = { readonly value: JsonValue } | "none" | "tooLarge";

/** By event number. Payloads come to the state machine with the job, as its row does: it reads nothing itself. */
export type EventPayloads = ReadonlyMap<number, EventPayload>;

export const noPayloads: EventPayloads = new Map();

/** Whether the job holds events with payloads that a wait of its version may read some day. Mostly it does not, which is told quickly. */
export function holdsPayloads({ readsPayloads }: Plan, { state }: Job): boolean {
  if (!readsPayloads || !("progress" in state)) return false;
  const bare = new Set(state.progress.bareEvents);
  return keptNumbers(state.progress).some((eventNumber) => !bare.has(eventNumber));
}

/**
 * The numbers of the kept events whose payloads the job needs while it takes these facts: those for one visit of one wait, so that the
 * bound on what a commit reads is a bound for that wait alone. A job that comes to another wait with payloads to read goes on from there
 * with the next commit.
 */
export function payloadsToRead(plan: Plan, { state }: Job, facts: readonly UntimedFact[]): number[] {
  const visit = visitAhead(plan, state);
  if (visit === undefined || !("progress" in state)) return [];
  const { progress } = state;
  const step = plan.steps.get(visit.step);
  if (step?.payloadRule === undefined || step.wait === undefined) return [];
  const kept = payloadsFor(progress, step, visit.visit);
  if (kept.length === 0) return [];
  // While the job is in the wait, nothing reads payloads before all that it needs has come.
  if (visit.isEntered) return mayComplete(progress, step, visit, facts) ? kept : [];
  return facts.some(({ type }) => type === "step.succeeded" || type === "timer.due") ? kept : [];
}

/** Whether a visit of a wait step may have enough events with those that come now. */
export function mayComplete(
  progress: Progress,
  { wait }: PlanStep,
  visit: WaitVisit,
  facts: readonly UntimedFact[],
): boolean {
  if (wait === undefined) return false;
  const arriving = new Set(facts.flatMap((fact) => (fact.type === "event.received" ? fact.eventId : [])));
  const isHere = (eventId: string) => arriving.has(eventId) || keptFor(progress, eventId, visit) !== undefined;
  return wait.eventIds.filter(isHere).length >= wait.requiredCount;
}

/** The kept events that may bring something to this visit of a wait step. */
export function payloadsFor(progress: Progress, step: PlanStep, visit: number): number[] {
  if (step.payloadRule === undefined || step.wait === undefined) return [];
  const bare = new Set(progress.bareEvents);
  const kept = step.wait.eventIds.flatMap((eventId) => keptFor(progress, eventId, { step: step.name, visit }) ?? []);
  return kept.filter((eventNumber) => !bare.has(eventNumber));
}

interface VisitAhead extends WaitVisit {
  /** Whether the job is in the step, and not only on its way to it. */
  readonly isEntered: boolean;
}

/** The step that the job is in and may complete by itself, or the one that it enters next. */
function visitAhead(plan: Plan, state: JobState): VisitAhead | undefined {
  if (state.status === "SUCCEEDED") return undefined;
  const point = state.status === "RUNNING" ? state.step : state.resumeAt;
  if (point?.phase === "waiting" || point?.phase === "in") {
    return { step: point.name, visit: point.visit, isEntered: true };
  }
  const step = stepAfter(plan, point);
  if (step === null) return undefined;
  return { step, visit: (getOwn(state.progress.visits, step) ?? 0) + 1, isEntered: false };
}

function stepAfter(plan: Plan, point: CurrentStep | ResumePoint | null): string | null {
  if (point === null) return plan.firstStep.name;
  return point.phase === "next" ? point.name : (plan.steps.get(point.name)?.transitionToStep ?? null);
}

function keptNumbers({ bufferedEvents, addressedEvents = [] }: Progress): number[] {
  return [...Object.values(bufferedEvents), ...addressedEvents.map(({ eventNumber }) => eventNumber)];
}
