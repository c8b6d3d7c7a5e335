import { mainBranch } from "../branch-path.ts";
import { closestName } from "../closest-name.ts";
import { handlerOf } from "../definition/failures/failure-handlers.ts";
import { isSameVisit } from "../job/events/kept-events.ts";
import type { Entry } from "../job/history.ts";
import type { Progress, WaitingStep, WaitVisit } from "../job/job-state.ts";
import { quoted } from "../problem.ts";
import { due } from "./due.ts";
import type { Circumstances, Explanation, MisspelledEvent } from "./explanation-parts.ts";
import { duration, listed } from "./words.ts";

/**
 * Explains a job, or one of its branches, that waits for events: for which events, since when and until when, and whether an event that came had a
 * mistyped id.
 */
export function waiting(circumstances: Circumstances, step: WaitingStep, branch: string): Explanation {
  const { plan, entries, now, job } = circumstances;
  const planStep = plan.steps.get(step.name);
  const rule = step.awaited ?? (planStep?.work.kind === "wait" ? planStep.work.rule : undefined);
  const eventIds = rule?.eventIds ?? step.missingEventIds;
  const missing = step.missingEventIds;
  const receivedCount = eventIds.length - missing.length;
  const missingCount = Math.max(0, (rule?.requiredCount ?? eventIds.length) - receivedCount);
  const misspelledEvents = misspelled(entries, missing);
  const visit = { step: step.name, visit: step.visit, branch };
  const bufferedEventIds = job.state.status === "RUNNING" ? keptForOthers(job.state.progress, visit, eventIds) : [];
  const facts = {
    since: step.since,
    step: step.name,
    visit: step.visit,
    attempt: step.attempt,
    ...(step.wakeAt !== null && missingCount > 0 && { timeoutAt: step.wakeAt }),
    eventIds,
    missingEventIds: missing,
    missingCount,
    ...(misspelledEvents.length > 0 && { misspelledEvents }),
    ...(bufferedEventIds.length > 0 && { bufferedEventIds }),
    operations: ["SendJobEvent", "CancelJob"] as const,
  };
  if (step.wakeAt !== null && (missingCount === 0 || step.wakeAt <= now)) {
    const clause =
      missingCount === 0
        ? `${quoted(step.name)} has the events that it needs`
        : `the time of ${quoted(step.name)} is up, and ${listed(missing)} did not come`;
    return due(circumstances, { facts, clause, dueAt: step.wakeAt, needsRoom: false });
  }
  const timeout =
    step.wakeAt === null
      ? ""
      : timeoutClause(step.wakeAt - now, branch, handlerOf(planStep?.onFailure ?? [], { code: "Timeout" }));
  const sentences = [
    `${quoted(step.name)} has waited ${duration(now - step.since)} for ${awaited(missing, missingCount, receivedCount)}${timeout}.`,
    ...misspelledEvents.slice(0, 3).map(({ eventId, meantEventId, receivedAt }) => {
      const ago = duration(now - receivedAt);
      return `The event ${quoted(eventId)} came ${ago} ago, but no step waits for it: did the sender mean ${quoted(meantEventId)}?`;
    }),
  ];
  return { state: "waitingForEvents", sentence: sentences.join(" "), facts };
}

function awaited(missing: readonly string[], missingCount: number, receivedCount: number): string {
  if (missingCount < missing.length)
    return `${missingCount}${receivedCount === 0 ? "" : " more"} of the events ${listed(missing)}`;
  const received = receivedCount === 0 ? "" : ` (${receivedCount} of ${receivedCount + missing.length} came)`;
  return `the event${missing.length === 1 ? "" : "s"} ${listed(missing)}${received}`;
}

function timeoutClause(leftMs: number, branch: string, handler: string | undefined): string {
  const fails = branch === mainBranch ? "the job fails" : "its branch fails";
  const then = handler === undefined ? fails : `${quoted(handler)} takes over`;
  return `; in ${duration(leftMs)} it gives up and ${then}`;
}

/** Finds mistyped ids, newest first, each once. The number of comparisons is bounded, because a job may hold thousands of events. */
function misspelled(entries: readonly Entry<unknown>[], missing: readonly string[]): MisspelledEvent[] {
  const found = new Map<string, MisspelledEvent>();
  let compared = 0;
  for (let index = entries.length - 1; index >= 0 && compared < maxCompared; index -= 1) {
    const entry = entries[index];
    if (entry?.type !== "event.received" || entry.outcome !== "unmatched" || found.has(entry.eventId)) continue;
    compared += 1;
    const meantEventId = closestName(entry.eventId, missing);
    if (meantEventId === undefined) continue;
    found.set(entry.eventId, { eventId: entry.eventId, meantEventId, receivedAt: entry.at });
  }
  return [...found.values()];
}

const maxCompared = 100;

function keptForOthers(progress: Progress, visit: WaitVisit, awaitedIds: readonly string[]): string[] {
  const own = new Set(awaitedIds);
  const forAny = Object.keys(progress.bufferedEvents).filter((eventId) => !own.has(eventId));
  const forOthers = (progress.addressedEvents ?? []).filter((event) => !isSameVisit(event, visit));
  return [...new Set([...forAny, ...forOthers.map(({ eventId }) => eventId)])];
}
