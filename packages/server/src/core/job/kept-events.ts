import { getOwn, withOwn, withoutOwn } from "../json/record.ts";
import { runKeyOf } from "./history.ts";
import { type AddressedEvent, mainBranch, type Progress, type Timestamp, type WaitVisit } from "./job-state.ts";

/** The event that counts for this visit of a wait step: one that was sent for it alone goes before one for whichever wait comes first. */
export function keptFor(progress: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedTo(progress, eventId, visit) ?? getOwn(progress.bufferedEvents, eventId);
}

/** The event that was sent for this visit alone. */
export function addressedTo({ addressedEvents }: Progress, eventId: string, visit: WaitVisit): number | undefined {
  return addressedEvents && numbersByAddress(addressedEvents).get(addressOf(eventId, visit));
}

/** A job may hold 10,000 such events and 1,000 waits that each ask for theirs, so that no wait walks through the list. */
function numbersByAddress(events: readonly AddressedEvent[]): ReadonlyMap<string, number> {
  const known = addressBooks.get(events);
  if (known !== undefined) return known;
  // The first of two events for one visit counts.
  const book = new Map(events.toReversed().map((event) => [addressOf(event.eventId, event), event.eventNumber]));
  addressBooks.set(events, book);
  return book;
}

/** A list of events is never changed: another one takes its place. */
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
  /** Whether it was sent for whichever wait comes first. */
  readonly isClaimed?: boolean;
  /** Whether it is certain to bring nothing: its payload need never be read. */
  readonly isBare: boolean;
  /** The time at which the event was sent; undefined where no expression asks for it. */
  readonly sentAt: Timestamp | undefined;
}

/** Notes an event whose id some step of the version lists. */
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

/** Forgets the events that a visit consumed, and those that were sent for it or an earlier one: no visit can consume them any more. */
export function forgetEvents(progress: Progress, consumed: ReadonlySet<number>, ended: WaitVisit): Progress {
  const { branch = mainBranch, step, visit } = ended;
  return withoutEvents(
    progress,
    consumed,
    (event) => event.visit <= visit && event.step === step && (event.branch ?? mainBranch) === branch,
  );
}

/** Branches are over: the events that their waits took are for others again, and those that were sent for them alone can never count. */
export function releaseEvents(progress: Progress, isOver: (branch: string) => boolean): Progress {
  if (progress.addressedEvents === undefined) return progress;
  return withoutEvents(progress, new Set(), ({ branch = mainBranch }) => isOver(branch));
}

/** Branches have failed, and may go on after a resume: the events that their waits took are for others until then. */
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

/** A wait in a branch takes the events that are here for whichever wait comes first, so that no other one counts on them. */
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

/** Gives claimed events back, where no newer one is kept in their place. */
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
