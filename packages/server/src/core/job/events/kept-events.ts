import { mainBranch } from "../../branch-path.ts";
import { getOwn, withOwn, withoutOwn } from "../../json/record.ts";
import type { Timestamp } from "../../time.ts";
import { runKeyOf } from "../history.ts";
import type { AddressedEvent, Progress, WaitVisit } from "../job-state.ts";

/** The event that counts for this visit of a wait step. An event sent for this visit alone takes precedence over one for any wait. */
export function keptFor(progress: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedTo(progress, eventId, visit) ?? getOwn(progress.bufferedEvents, eventId);
}

/** The event that was sent for this visit alone. */
export function addressedTo({ addressedEvents }: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedEvents && numbersByAddress(addressedEvents).get(addressOf(eventId, visit));
}

/** A job may hold 10,000 such events and have 1,000 waits that each look for theirs, so the list is indexed once. */
function numbersByAddress(events: readonly AddressedEvent[]): ReadonlyMap<string, number> {
  const known = addressBooks.get(events);
  if (known !== undefined) return known;
  // The first of two events for one visit counts.
  const book = new Map(events.toReversed().map((event) => [addressOf(event.eventId, event), event.eventNumber]));
  addressBooks.set(events, book);
  return book;
}

/** The key is the list itself, because a list of events never changes; a new list replaces it. */
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
  /** The one visit that it was sent for, or that takes it. */
  readonly address: WaitVisit | undefined;
  /** Whether it was sent for any wait, and a branch has claimed it. */
  readonly isClaimed?: boolean;
  /** Whether it certainly brings nothing, so that its payload need never be read. */
  readonly isBare: boolean;
  /** The time at which the event was sent; undefined where no expression asks for it. */
  readonly sentAt: Timestamp | undefined;
}

/** Adds an event whose id some step of the version lists. */
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

/** Removes the events that a visit consumed, and those sent for it or an earlier visit, which no visit can consume any more. */
export function forgetEvents(progress: Progress, consumed: ReadonlySet<number>, ended: WaitVisit): Progress {
  const { branch = mainBranch, step, visit } = ended;
  return withoutEvents(
    progress,
    consumed,
    (event) => event.visit <= visit && event.step === step && (event.branch ?? mainBranch) === branch,
  );
}

/**
 * Releases the events of branches that are over. Events that their waits claimed are available to others again; events sent for those branches alone
 * are removed.
 */
export function releaseEvents(progress: Progress, isOver: (branch: string) => boolean): Progress {
  if (progress.addressedEvents === undefined) return progress;
  return withoutEvents(progress, new Set(), ({ branch = mainBranch }) => isOver(branch));
}

/** Releases the events that the waits of failed branches claimed. They are available to others until a resume lets those branches go on. */
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
