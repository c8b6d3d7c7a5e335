import { mainBranch } from "../branch-path.ts";
import { getOwn } from "../json/record.ts";
import type { Plan } from "../plan/plan.ts";
import type { DraftFor, JobDraft, JobLimits } from "./draft.ts";
import { addressOf } from "./event-address.ts";
import { awaitedBy } from "./events/event-payloads.ts";
import { addressedTo, isSameVisit, keptFor, noteEvent } from "./events/kept-events.ts";
import { checkPayload, unreadParts } from "./events/sent-payload.ts";
import type { Change, EventReceived } from "./fact.ts";
import type { Job, PendingState, Progress, RunningState, WaitVisit } from "./job-state.ts";
import { type OpenWait, offerFreedEvents, waitFor, waitOn } from "./open-waits.ts";
import { completeWait, runFrom } from "./step-run.ts";
import { ignored, invalid, rejected } from "./verdicts.ts";

/** Receives an event: rejects it, keeps it, or completes the wait for which it came. */
export function receiveEvent(draftFor: DraftFor, plan: Plan, job: Job, fact: EventReceived): Change {
  const { state } = job;
  if (state.status !== "PENDING" && state.status !== "RUNNING") {
    return rejected(job, `The job is ${state.status}, so it accepts no events.`);
  }
  const { eventId, payload } = fact;
  const listing = plan.waitsByEventId.get(eventId) ?? [];
  const problems = checkPayload(listing, eventId, payload);
  if (problems.length > 0) {
    return invalid(job, `The payload does not fit the schema that this version has for ${eventId}.`, problems);
  }
  const sentFor = addressOf(plan, state, fact);
  if (sentFor.type === "wrong")
    return invalid(job, "The event cannot be sent to the place that the request names.", [sentFor.problem]);
  if (sentFor.type === "over") return rejected(job, sentFor.detail);
  const address = sentFor.type === "one" ? sentFor.visit : undefined;
  const { progress } = state;
  const isAddressed = (visit: WaitVisit) => address === undefined || isSameVisit(address, visit);
  const wait = waitFor(plan, state, eventId, isAddressed);
  const awaiting = wait?.stand;
  const warnings = unreadParts(listing, eventId, payload);
  const draft = draftFor(state);
  // While the job may still reach a wait whose ids are given by expressions, any event may be for that wait.
  const isForWait = listing.length > 0 || isBeforeOpenWait(plan, state);
  const keptAs = keptBefore(progress, eventId, address, wait) ?? (isForWait ? null : fact.keptAs);
  if (keptAs !== null) {
    draft.changeEvent({ type: "repeated", eventNumber: keptAs, at: fact.at });
    return { ...draft.finish({ type: "event", outcome: "duplicate", warnings }), job };
  }
  const full = noRoomForEvent(progress, isForWait, draft.limits);
  if (full !== undefined) return noRoom(job, full);
  if (listing.length === 0 && isForWait && awaiting === undefined) {
    const crowded = noRoomForUnlistedId(plan, progress);
    // A later try can succeed, because each wait that takes a kept event makes room.
    if (crowded !== undefined) return noRoom(job, crowded, { isPassing: true });
  }
  const outcome = awaiting !== undefined ? "matched" : isForWait ? "buffered" : "unmatched";
  keepEvent(draft, fact, address, outcome, wait);
  if (wait !== undefined) tryToComplete(draft, wait);
  offerFreedEvents(draft);
  return draft.finish({ type: "event", outcome, warnings });
}

function noRoom(job: Job, detail: string, more: { readonly isPassing?: true } = {}): Change {
  return { ...ignored(job), verdict: { type: "rejected", code: "RateLimitError", detail, ...more } };
}

function tryToComplete(draft: JobDraft, { branch, stand }: OpenWait): void {
  if (branch !== mainBranch) draft.enter(branch);
  const step = draft.waitStep(stand.name);
  const next = draft.isRead(branch) ? completeWait(draft, step, stand, stand.input, awaitedBy(step, stand)) : "unread";
  if (next === "waiting" || next === "unread") waitOn(draft, stand);
  else runFrom(draft, next);
}

function isBeforeOpenWait({ firstStep, beforeOpenWaits }: Plan, state: PendingState | RunningState): boolean {
  const stands: readonly ({ readonly name: string } | null)[] = state.cursors.map(({ stand }) => stand);
  return beforeOpenWaits.size > 0 && stands.some((stand) => beforeOpenWaits.has(stand?.name ?? firstStep.name));
}

/** Unmatched events have a bound of their own, so that a sender with a wrong id cannot take the room of the events for which the job waits. */
function noRoomForEvent(progress: Progress, isListed: boolean, { maxEvents }: JobLimits): string | undefined {
  const { eventCount, unmatchedCount = 0 } = progress;
  if (!isListed) {
    return unmatchedCount < maxEvents
      ? undefined
      : `The job has ${maxEvents} events that no step of its version lists, which is the maximum of one job. Check the event id: GET …/jobs/{jobId}/explain names what the job waits for.`;
  }
  return eventCount - unmatchedCount < maxEvents
    ? undefined
    : `The job has ${maxEvents} events for its wait steps, which is the maximum of one job.`;
}

/**
 * Bounds the number of events whose ids the version does not list. The state holds the ids of all events that a wait may still take, and it is
 * written with each change. The ids that the version lists are limited in number already. This bound does not apply to an event for which the job
 * waits now.
 */
function noRoomForUnlistedId({ listedEventIds }: Plan, progress: Progress): string | undefined {
  const { bufferedEvents, addressedEvents = [] } = progress;
  const eventIds = [...Object.keys(bufferedEvents), ...addressedEvents.map(({ eventId }) => eventId)];
  return eventIds.filter((eventId) => !listedEventIds.has(eventId)).length < maxUnlistedEvents
    ? undefined
    : `The job keeps ${maxUnlistedEvents} events whose ids no step of its version lists, for waits whose event ids come from expressions. This is the maximum of one job. Send the event when the job waits for it.`;
}

const maxUnlistedEvents = 1_000;

/**
 * The number under which an event with this id is kept already; null if none is kept. A wait that has such an event needs no second one, whether the
 * kept event was sent for any wait or only for this visit of the wait. An event that was sent only for another visit does not count.
 */
function keptBefore(
  progress: Progress,
  eventId: string,
  address: WaitVisit | undefined,
  wait: OpenWait | undefined,
): number | null {
  const inWait = wait === undefined ? undefined : keptFor(progress, eventId, wait.visit);
  const elsewhere =
    address === undefined ? getOwn(progress.bufferedEvents, eventId) : addressedTo(progress, eventId, address);
  return inWait ?? elsewhere ?? null;
}

/** Keeps an event, whether or not a wait needs it. */
function keepEvent(
  draft: JobDraft,
  fact: EventReceived,
  address: WaitVisit | undefined,
  outcome: "matched" | "buffered" | "unmatched",
  wait: OpenWait | undefined,
): void {
  const { eventId, payload, sentBy, at } = fact;
  const eventNumber = draft.progress.eventCount + 1;
  draft.record({ type: "event.received", eventId, eventNumber, outcome });
  draft.changeEvent({ type: "kept", eventNumber, eventId, payload, address, outcome, sentBy, at });
  const counted = { ...draft.progress, eventCount: eventNumber };
  const isBare = payload === undefined;
  // If the wait is in a branch, it claims the event, because a wait in another branch may need the same event.
  const isClaimed = address === undefined && wait !== undefined && wait.branch !== mainBranch;
  if (!isBare) draft.payloads = new Map([...draft.payloads, [eventNumber, { value: payload }]]);
  draft.progress =
    outcome === "unmatched"
      ? { ...counted, unmatchedCount: (counted.unmatchedCount ?? 0) + 1 }
      : noteEvent(counted, {
          eventId,
          eventNumber,
          address: isClaimed ? wait.visit : address,
          isClaimed,
          isBare,
          sentAt: draft.plan.readEventIds.has(eventId) ? at : undefined,
        });
}
