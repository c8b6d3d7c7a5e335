import { getOwn, withOwn, withoutOwn } from "../json/record.ts";
import type { AddressedEvent, Progress, WaitVisit } from "./job-state.ts";

/** The event that counts for this visit of a wait step: one that was sent for it alone goes before one for whichever wait comes first. */
export function keptFor(progress: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedTo(progress, eventId, visit) ?? getOwn(progress.bufferedEvents, eventId);
}

/** The event that was sent for this visit alone. */
export function addressedTo(progress: Progress, eventId: string, { step, visit }: WaitVisit): number | undefined {
  return progress.addressedEvents?.find(
    (event) => event.eventId === eventId && event.step === step && event.visit === visit,
  )?.eventNumber;
}

export interface NewEvent {
  readonly eventId: string;
  readonly eventNumber: number;
  /** The one visit that it was sent for. */
  readonly address: WaitVisit | undefined;
  /** Whether it is certain to bring nothing: its payload need never be read. */
  readonly isBare: boolean;
}

/** Notes an event whose id some step of the version lists. */
export function noteEvent(progress: Progress, { eventId, eventNumber, address, isBare }: NewEvent): Progress {
  const { addressedEvents = [], bareEvents = [], bufferedEvents } = progress;
  return {
    ...progress,
    ...(address === undefined
      ? { bufferedEvents: withOwn(bufferedEvents, eventId, eventNumber) }
      : { addressedEvents: [...addressedEvents, { eventId, eventNumber, ...address }] }),
    ...(isBare && { bareEvents: [...bareEvents, eventNumber] }),
  };
}

/** Forgets the events that a visit consumed, and those that were sent for it or an earlier one: no visit can consume them any more. */
export function forgetEvents(progress: Progress, consumed: ReadonlySet<number>, ended: WaitVisit): Progress {
  const { bufferedEvents, addressedEvents = [], bareEvents = [], ...others } = progress;
  const isOver = (event: AddressedEvent) => event.step === ended.step && event.visit <= ended.visit;
  const left = addressedEvents.filter((event) => !isOver(event));
  const gone = new Set([...consumed, ...addressedEvents.filter(isOver).map(({ eventNumber }) => eventNumber)]);
  const bareLeft = bareEvents.filter((eventNumber) => !gone.has(eventNumber));
  const names = Object.keys(bufferedEvents).filter((eventId) => gone.has(getOwn(bufferedEvents, eventId) ?? 0));
  return {
    ...others,
    bufferedEvents: withoutOwn(bufferedEvents, new Set(names)),
    ...(left.length > 0 && { addressedEvents: left }),
    ...(bareLeft.length > 0 && { bareEvents: bareLeft }),
  };
}
