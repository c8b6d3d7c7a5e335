import { branchField, comparePaths, mainBranch } from "../branch-path.ts";
import { isWait, type Plan } from "../plan/plan.ts";
import type { JobDraft } from "./draft.ts";
import { awaitedBy } from "./events/event-payloads.ts";
import { claimEvents } from "./events/kept-events.ts";
import type { AwaitedEvents, JobState, WaitingStep, WaitVisit } from "./job-state.ts";
import type { AnyCursor } from "./resume-point.ts";
import { missingEventIds } from "./step-run.ts";

export interface OpenWait {
  readonly branch: string;
  readonly stand: WaitingStep;
  readonly visit: WaitVisit;
}

function openWaits(plan: Plan, cursors: Iterable<AnyCursor>): OpenWait[] {
  return [...cursors].flatMap((cursor) => {
    const { branch, stand } = cursor;
    if (stand?.phase !== "waiting" || hasEnough(plan, cursor)) return [];
    return [{ branch, stand, visit: { ...branchField(branch), step: stand.name, visit: stand.visit } }];
  });
}

/**
 * Whether the branch is in a wait that has enough events, so that the next commit ends the wait. Such a wait takes no more events, because a wait in
 * another branch may need them. Returns false for the main line, whose values are read whenever an event may end its wait.
 */
export function hasEnough(plan: Plan, { branch, stand }: AnyCursor): boolean {
  if (branch === mainBranch || stand?.phase !== "waiting") return false;
  const step = plan.steps.get(stand.name);
  if (step === undefined || !isWait(step)) return false;
  return isEnough(awaitedBy(step, stand), stand.missingEventIds);
}

function isEnough({ eventIds, requiredCount }: AwaitedEvents, missing: readonly string[]): boolean {
  return eventIds.length - missing.length >= requiredCount;
}

/**
 * Returns the wait that gets an incoming event. It is one of the waits for the event's id. If the event has an address, the wait must be at this
 * address.
 */
export function waitFor(
  plan: Plan,
  state: JobState,
  eventId: string,
  isAddressed: (visit: WaitVisit) => boolean,
): OpenWait | undefined {
  return firstFor(
    eventId,
    waitsFor(plan, state, eventId).filter(({ visit }) => isAddressed(visit)),
  );
}

/** Returns the waits for an event's id in the order in which they get events with this id. */
export function waitsInOrder(plan: Plan, state: JobState, eventId: string): readonly OpenWait[] {
  const waits = waitsFor(plan, state, eventId);
  if (waits.length < 2) return waits;
  const sorted = waits.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
  return [...sorted.filter((wait) => lacks(wait, eventId)), ...sorted.filter((wait) => !lacks(wait, eventId))];
}

function waitsFor(plan: Plan, state: JobState, eventId: string): readonly OpenWait[] {
  if (state.status !== "RUNNING") return [];
  const listing = plan.waitsByEventId.get(eventId) ?? [];
  const isAwaited = ({ awaited, name }: WaitingStep) =>
    awaited?.eventIds.includes(eventId) ?? listing.some((step) => step.name === name);
  return openWaits(plan, state.cursors).filter(({ stand }) => isAwaited(stand));
}

/**
 * Chooses among the waits for one event. If some of them lack the event, only those are considered. The one that has waited longest is chosen. If two
 * have waited equally long, the paths of their branches decide.
 */
function firstFor(eventId: string, waits: readonly OpenWait[]): OpenWait | undefined {
  const lacking = waits.filter((wait) => lacks(wait, eventId));
  return (lacking.length > 0 ? lacking : waits).reduce<OpenWait | undefined>(
    (first, wait) => (first === undefined || isBefore(wait, first) ? wait : first),
    undefined,
  );
}

function lacks({ stand }: OpenWait, eventId: string): boolean {
  return stand.missingEventIds.includes(eventId);
}

function isBefore(one: OpenWait, other: OpenWait): boolean {
  const difference = one.stand.since - other.stand.since;
  return difference === 0 ? comparePaths(one.branch, other.branch) < 0 : difference < 0;
}

/**
 * If events became available again, gives them to waits that lack them, but only to waits in branches. If a wait then has enough events, the next
 * commit reads their payloads and completes the wait.
 */
export function offerFreedEvents(draft: JobDraft): void {
  const { bufferedEvents } = draft.progress;
  const { state } = draft.job;
  if (draft.isOver || ("progress" in state && bufferedEvents === state.progress.bufferedEvents)) return;
  // The main line is left out, because it claims no event before it has all that it needs.
  const waits = openWaits(draft.plan, draft.cursors).filter(({ branch }) => branch !== mainBranch);
  const offered = new Set(
    waits.flatMap(({ stand }) => stand.missingEventIds.filter((eventId) => Object.hasOwn(bufferedEvents, eventId))),
  );
  for (const eventId of offered) {
    const first = firstFor(eventId, waits);
    if (first !== undefined) take(draft, first, eventId);
  }
}

function take(draft: JobDraft, { branch, stand, visit }: OpenWait, eventId: string): void {
  draft.enter(branch);
  draft.progress = claimEvents(draft.progress, [eventId], visit);
  waitOn(draft, stand);
}

/** Lets the current branch stay in its wait. If enough events are here, the next commit reads their payloads and completes the wait. */
export function waitOn(draft: JobDraft, stand: WaitingStep): void {
  const awaited = awaitedBy(draft.waitStep(stand.name), stand);
  const missing = missingEventIds(draft, stand, awaited);
  draft.moveTo({ ...stand, missingEventIds: missing, ...(isEnough(awaited, missing) && { wakeAt: draft.at }) });
}
