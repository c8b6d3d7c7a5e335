import type { Fact } from "./fact.ts";
import type { Job, Progress } from "./job-state.ts";
import type { JsonValue } from "./json.ts";
import type { Plan, WaitPlanStep } from "./plan.ts";
import { getOwn } from "./record.ts";

/** What came with a kept event. `tooLarge`: the payloads for its wait are more than one commit may read. */
export type EventPayload = { readonly value: JsonValue } | "none" | "tooLarge";

/** By event number. Payloads come to the state machine with the job, as its row does: it reads nothing itself. */
export type EventPayloads = ReadonlyMap<number, EventPayload>;

export const noPayloads: EventPayloads = new Map();

type WithoutTime<F> = F extends Fact ? Omit<F, "at"> : never;

export interface PayloadRequest {
  readonly eventNumber: number;
  /** The wait step that may read it. */
  readonly step: string;
}

/** Whether the job holds events with payloads that a wait of its version may read some day. Mostly it does not, which is told quickly. */
export function holdsPayloads({ readingWaits }: Plan, { state }: Job): boolean {
  if (readingWaits.length === 0 || !("progress" in state)) return false;
  const bare = new Set(state.progress.bareEvents);
  return keptNumbers(state.progress).some((eventNumber) => !bare.has(eventNumber));
}

/**
 * The kept events whose payloads some wait may read while the job takes these facts. A wait that these facts complete has its events
 * among those that are kept and those that arrive now, so none is ever missing.
 */
export function payloadsToRead(plan: Plan, { state }: Job, facts: readonly WithoutTime<Fact>[]): PayloadRequest[] {
  if (!("progress" in state)) return [];
  const { progress } = state;
  const bare = new Set(progress.bareEvents);
  const arriving = new Set(facts.flatMap((fact) => (fact.type === "event.received" ? fact.eventId : [])));
  const mayComplete = ({ name, wait }: WaitPlanStep): boolean => {
    const isHere = (eventId: string) => arriving.has(eventId) || keptForStep(progress, name, eventId).length > 0;
    return wait.eventIds.filter(isHere).length >= wait.requiredCount;
  };
  // Events alone move only a job that waits, and only when its wait has what it needs.
  if (facts.every(({ type }) => type === "event.received")) {
    const waiting = state.status === "RUNNING" && state.step.phase === "waiting" ? state.step.name : undefined;
    const current = waiting === undefined ? undefined : plan.waits.get(waiting);
    if (current === undefined || !mayComplete(current)) return [];
  }
  return plan.readingWaits.filter(mayComplete).flatMap(({ name, wait }) => {
    const kept = wait.eventIds.flatMap((eventId) => keptForStep(progress, name, eventId));
    return kept.filter((eventNumber) => !bare.has(eventNumber)).map((eventNumber) => ({ eventNumber, step: name }));
  });
}

function keptNumbers({ bufferedEvents, addressedEvents = [] }: Progress): number[] {
  return [...Object.values(bufferedEvents), ...addressedEvents.map(({ eventNumber }) => eventNumber)];
}

/** For any of its visits: one commit may go through several. */
function keptForStep({ bufferedEvents, addressedEvents = [] }: Progress, step: string, eventId: string): number[] {
  const addressed = addressedEvents.filter((event) => event.eventId === eventId && event.step === step);
  return [getOwn(bufferedEvents, eventId) ?? [], addressed.map(({ eventNumber }) => eventNumber)].flat();
}
