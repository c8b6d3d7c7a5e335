import { branchField, mainBranch } from "../../branch-path.ts";
import { isChoice } from "../../definition/transition.ts";
import type { JsonValue } from "../../json/json.ts";
import { getOwn } from "../../json/record.ts";
import { isWait, type Plan, type PlanStep, type WaitPlanStep } from "../../plan/plan.ts";
import type { UntimedFact } from "../fact.ts";
import type { AwaitedEvents, Job, Progress, UnfinishedState, WaitVisit } from "../job-state.ts";
import type { AnyCursor, AnyStand } from "../resume-point.ts";
import { isRead } from "../values/stored-state.ts";
import { keptFor } from "./kept-events.ts";

/** The payload of a kept event. `tooLarge` means that the payloads for one wait together exceed the size that a commit may read. */
export type EventPayload = { readonly value: JsonValue } | "none" | "tooLarge";

/** The payloads by event number. The state machine reads nothing itself, so it gets them together with the job. */
export type EventPayloads = ReadonlyMap<number, EventPayload>;

/** An event that the job keeps for its waits. */
export interface KeptEvent {
  readonly eventId: string;
  readonly eventNumber: number;
}

export const noPayloads: EventPayloads = new Map();

/** Whether the job holds events with payloads that a wait of its version may read later. Most jobs hold none. For them this check is quick. */
export function holdsPayloads({ readsPayloads }: Plan, { state }: Job): boolean {
  if (!readsPayloads || !("progress" in state)) return false;
  const bare = new Set(state.progress.bareEvents);
  return keptNumbers(state.progress).some((eventNumber) => !bare.has(eventNumber));
}

/**
 * The numbers of the kept events whose payloads the job needs while these facts are applied. These events are all for one visit of one wait, so that
 * the bound on what a commit reads applies to this wait alone. When the job reaches another wait with payloads, it continues in the next commit.
 */
export function payloadsToRead(plan: Plan, { state }: Job, facts: readonly UntimedFact[]): number[] {
  if (state.status === "SUCCEEDED") return [];
  const { progress } = state;
  const cursors: readonly AnyCursor[] = state.cursors;
  for (const visit of visitsAhead(plan, state)) {
    const numbers = payloadsOf(plan, progress, visit, facts);
    // A branch whose values were not read gets its turn in another commit.
    if (
      numbers.length > 0 &&
      isRead(visit.branch ?? mainBranch, (path) => cursors.find(({ branch }) => branch === path))
    )
      return numbers;
  }
  return [];
}

function payloadsOf(plan: Plan, progress: Progress, visit: VisitAhead, facts: readonly UntimedFact[]): number[] {
  const step = plan.steps.get(visit.step);
  if (step === undefined) return [];
  const awaited = visit.awaited ?? (isWait(step) ? step.work.rule : undefined);
  const kept = payloadsFor(progress, step, visit, awaited?.eventIds);
  if (kept.length === 0 || awaited === undefined) return [];
  // While the job is in the wait, payloads are read only when all needed events have come.
  if (visit.isEntered) return mayComplete(progress, awaited, visit, facts) ? kept : [];
  return facts.some(({ type }) => type === "step.succeeded" || type === "timer.due") ? kept : [];
}

/** Whether the events that come now, together with those that are kept, may complete a visit of a wait step. */
export function mayComplete(
  progress: Progress,
  { eventIds, requiredCount }: AwaitedEvents,
  visit: WaitVisit,
  facts: readonly UntimedFact[],
): boolean {
  const arriving = new Set(facts.flatMap((fact) => (fact.type === "event.received" ? fact.eventId : [])));
  const isHere = (eventId: string) => arriving.has(eventId) || keptFor(progress, eventId, visit) !== undefined;
  return eventIds.filter(isHere).length >= requiredCount;
}

/** The kept events whose payloads this visit of a wait step may read. */
export function payloadsFor(
  progress: Progress,
  step: PlanStep,
  visit: WaitVisit,
  eventIds: readonly string[] = isWait(step) ? step.work.rule.eventIds : [],
): number[] {
  if (!isWait(step)) return [];
  const kept = eventIds.flatMap((eventId) => {
    const eventNumber = keptFor(progress, eventId, visit);
    return eventNumber === undefined ? [] : { eventId, eventNumber };
  });
  return payloadsAmong(progress, step, kept);
}

/** The numbers of those events whose payloads this wait step may read. */
export function payloadsAmong(progress: Progress, step: WaitPlanStep, kept: readonly KeptEvent[]): number[] {
  const read = kept.filter(({ eventId }) => readsPayload(step, eventId));
  if (read.length === 0) return [];
  const bare = new Set(progress.bareEvents);
  return read.map(({ eventNumber }) => eventNumber).filter((eventNumber) => !bare.has(eventNumber));
}

/** Returns the events that a visit waits for: those of the version's rule, or those that expressions gave when the visit began. */
export function awaitedBy(
  { work: { rule } }: WaitPlanStep,
  { awaited = rule }: { readonly awaited?: AwaitedEvents },
): AwaitedEvents {
  return awaited;
}

/** Whether the output of the wait, or an expression, may read the payload of this event. */
export function readsPayload({ work }: WaitPlanStep, eventId: string): boolean {
  return work.payloadRule !== undefined || work.readPayloadIds.has(eventId);
}

interface VisitAhead extends WaitVisit {
  /** False while the branch is still on its way to the step. */
  readonly isEntered: boolean;
  /** The events for which the visit waits, if expressions gave them. Undefined when the version's rule names them. */
  readonly awaited?: AwaitedEvents | undefined;
}

/**
 * Returns at most one step for each branch: the step in which it waits or continues after a resume, or else the step that it enters next. A commit
 * reads the payloads of one visit only. Branches that are on their way to a step come first. When the step's payloads are read, such a branch can
 * enter the step in this commit. The next commit can then read the payloads for another branch.
 */
function visitsAhead(plan: Plan, state: UnfinishedState): readonly VisitAhead[] {
  const cursors: readonly AnyCursor[] = state.cursors;
  if (cursors.length === 1) return [visitAhead(plan, state.cursors[0]) ?? []].flat();
  const isOnItsWay = ({ stand }: AnyCursor) => stand?.phase === "next";
  const sorted = [...cursors.filter(isOnItsWay), ...cursors.filter((cursor) => !isOnItsWay(cursor))];
  return sorted.flatMap((cursor) => visitAhead(plan, cursor) ?? []);
}

function visitAhead(plan: Plan, { branch, carried, stand }: AnyCursor): VisitAhead | undefined {
  const place = branchField(branch);
  if (stand?.phase === "stopped") return undefined;
  if (stand?.phase === "waiting" || stand?.phase === "in") {
    const awaited = stand.phase === "waiting" ? stand.awaited : undefined;
    return { ...place, step: stand.name, visit: stand.visit, isEntered: true, awaited };
  }
  const step = stepAfter(plan, stand);
  if (step === null) return undefined;
  return { ...place, step, visit: (getOwn(carried.visits, step) ?? 0) + 1, isEntered: false };
}

function stepAfter(plan: Plan, point: AnyStand): string | null {
  if (point === null) return plan.firstStep.name;
  if (point.phase === "next") return point.name;
  const next = plan.steps.get(point.name)?.next ?? null;
  // The target of a choice is not known yet. If it is a wait whose payloads were not read, the job stops before it, and the next commit reads them.
  return isChoice(next) ? null : next;
}

function keptNumbers({ bufferedEvents, addressedEvents = [] }: Progress): number[] {
  return [...Object.values(bufferedEvents), ...addressedEvents.map(({ eventNumber }) => eventNumber)];
}
