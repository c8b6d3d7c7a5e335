import { mainBranch } from "../../branch-path.ts";
import { getOwn, withOwn, withoutOwn } from "../../json/record.ts";
import type { Timestamp } from "../../time.ts";
import { runKeyOf } from "../history.ts";
import type { AddressedEvent, Progress, WaitVisit } from "../job-state.ts";

/**
 * The number of the kept event that this visit of a wait step may use. An event that was sent only for this visit, or that the visit has claimed,
 * comes before an event for any wait.
 */
export function keptFor(progress: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedTo(progress, eventId, visit) ?? getOwn(progress.bufferedEvents, eventId);
}

/** The number of the event that was sent only for this visit, or that this visit has claimed. */
export function addressedTo({ addressedEvents }: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedEvents && numbersByAddress(addressedEvents).get(addressOf(eventId, visit));
}

/** The list is indexed only once. It may have 10,000 events, and the job may have 1,000 waits that each look for their own events in it. */
function numbersByAddress(events: readonly AddressedEvent[]): ReadonlyMap<string, number> {
  const known = addressBooks.get(events);
  if (known !== undefined) return known;
  // When two events with the same id are kept for the same visit, the first one counts.
  const book = new Map(events.toReversed().map((event) => [addressOf(event.eventId, event), event.eventNumber]));
  addressBooks.set(events, book);
  return book;
}

/** The key is the list itself. A list of events never changes: a new list replaces it. */
const addressBooks = new WeakMap<readonly AddressedEvent[], ReadonlyMap<string, number>>();

function addressOf(eventId: string, visit: WaitVisit): string {
  return `${runKeyOf(visit)}\n${eventId}`;
}

export function isSameVisit(one: WaitVisit, other: WaitVisit): boolean {
  return (
    one.step === other.step && one.visit === other.visit && (one.branch ?? mainBranch) === (other.branch ?? mainBranch)
  );
}

export interface NewEvent {
  readonly eventId: string;
  readonly eventNumber: number;
  /** The only visit for which the event was sent, or the visit that claimed it. */
  readonly address: WaitVisit | undefined;
  /** Whether the event was sent for any wait and a branch has claimed it. */
  readonly isClaimed?: boolean;
  /** Whether it is certain that the event has no payload, so that the store need never be asked for one. */
  readonly isBare: boolean;
  /** The time at which the event was sent; undefined when no expression reads anything of the event. */
  readonly sentAt: Timestamp | undefined;
}

/** Adds an event that is kept for a wait. */
export function noteEvent(
  progress: Progress,
  { eventId, eventNumber, address, isClaimed = false, isBare, sentAt }: NewEvent,
): Progress {
  const { addressedEvents = [], bareEvents = [], bufferedEvents, sentTimes } = progress;
  return {
    ...progress,
    ...(address === undefined
      ? { bufferedEvents: withOwn(bufferedEvents, eventId, eventNumber) }
      : {
          addressedEvents: [...addressedEvents, { eventId, eventNumber, ...address, ...(isClaimed && { isClaimed }) }],
        }),
    ...(isBare && { bareEvents: [...bareEvents, eventNumber] }),
    ...(sentAt !== undefined && { sentTimes: { ...sentTimes, [eventNumber]: sentAt } }),
  };
}

/**
 * Removes the events that a visit consumed. Also removes events that were sent only for this visit or an earlier visit of the step, because no visit
 * can consume them any more. An event that the visit claimed and did not consume is available to other waits again.
 */
export function forgetEvents(progress: Progress, consumed: ReadonlySet<number>, ended: WaitVisit): Progress {
  const { branch = mainBranch, step, visit } = ended;
  return withoutEvents(
    progress,
    consumed,
    (event) => event.visit <= visit && event.step === step && (event.branch ?? mainBranch) === branch,
  );
}

/**
 * Releases the events of branches that are over. An event that a wait of such a branch claimed is available to other waits again. An event that was
 * sent only for such a branch is removed.
 */
export function releaseEvents(progress: Progress, isOver: (branch: string) => boolean): Progress {
  if (progress.addressedEvents === undefined) return progress;
  return withoutEvents(progress, new Set(), ({ branch = mainBranch }) => isOver(branch));
}

/** Releases the events that the waits of failed branches claimed. Other waits may use these events until a resume continues the failed branches. */
export function freeTakenEvents(progress: Progress, isStopped: (branch: string) => boolean): Progress {
  return unclaimed(progress, ({ branch = mainBranch }) => isStopped(branch));
}

function withoutEvents(
  before: Progress,
  consumed: ReadonlySet<number>,
  isOver: (event: AddressedEvent) => boolean,
): Progress {
  const progress = unclaimed(before, (event) => isOver(event) && !consumed.has(event.eventNumber));
  const { bufferedEvents, addressedEvents = [], bareEvents = [], sentTimes = {}, ...others } = progress;
  const left = addressedEvents.filter((event) => !isOver(event));
  const gone = new Set([...consumed, ...addressedEvents.filter(isOver).map(({ eventNumber }) => eventNumber)]);
  if (gone.size === 0) return progress;
  const bareLeft = bareEvents.filter((eventNumber) => !gone.has(eventNumber));
  const timesLeft = Object.entries(sentTimes).filter(([eventNumber]) => !gone.has(Number(eventNumber)));
  const names = Object.keys(bufferedEvents).filter((eventId) => gone.has(getOwn(bufferedEvents, eventId) ?? 0));
  return {
    ...others,
    bufferedEvents: names.length === 0 ? bufferedEvents : withoutOwn(bufferedEvents, new Set(names)),
    ...(left.length > 0 && { addressedEvents: left }),
    ...(bareLeft.length > 0 && { bareEvents: bareLeft }),
    ...(timesLeft.length > 0 && { sentTimes: Object.fromEntries(timesLeft) }),
  };
}

/** Claims the available events for a wait in a branch, so that no other wait counts on them. */
export function claimEvents(progress: Progress, eventIds: readonly string[], visit: WaitVisit): Progress {
  const { bufferedEvents, addressedEvents = [] } = progress;
  const claimed = eventIds.flatMap((eventId): AddressedEvent[] => {
    const eventNumber = getOwn(bufferedEvents, eventId);
    if (eventNumber === undefined || addressedTo(progress, eventId, visit) !== undefined) return [];
    return [{ eventId, eventNumber, ...visit, isClaimed: true }];
  });
  if (claimed.length === 0) return progress;
  return {
    ...progress,
    bufferedEvents: withoutOwn(bufferedEvents, new Set(claimed.map(({ eventId }) => eventId))),
    addressedEvents: [...addressedEvents, ...claimed],
  };
}

/** Gives claimed events back, unless a newer event with the same id is kept in their place. */
function unclaimed(progress: Progress, isOver: (event: AddressedEvent) => boolean): Progress {
  const { addressedEvents = [], ...others } = progress;
  const bufferedEvents = new Map(Object.entries(progress.bufferedEvents));
  const back = new Set<AddressedEvent>();
  for (const event of addressedEvents) {
    if (event.isClaimed !== true || bufferedEvents.has(event.eventId) || !isOver(event)) continue;
    back.add(event);
    bufferedEvents.set(event.eventId, event.eventNumber);
  }
  if (back.size === 0) return progress;
  const left = addressedEvents.filter((event) => !back.has(event));
  return {
    ...others,
    bufferedEvents: Object.fromEntries(bufferedEvents),
    ...(left.length > 0 && { addressedEvents: left }),
  };
}
