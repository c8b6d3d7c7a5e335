import type { JsonValue } from "../../json/json.ts";
import type { WaitPlanStep } from "../../plan/plan.ts";
import { toTime } from "../../time.ts";
import type { JobDraft } from "../draft.ts";
import { type EventPayload, type KeptEvent, readsPayload } from "../events/event-payloads.ts";
import type { StepError } from "../job-state.ts";

/** An event that a wait consumes, in the form in which the wait's output and expressions read it. */
export interface ConsumedEvent {
  readonly payload: JsonValue | undefined;
  /** The time at which the event was sent, as RFC 3339. Empty when no expression of the version reads anything of the event. */
  readonly sentAt: string;
}

/**
 * Returns the consumed events of a wait by their ids, in the order of `eventIds`. They have the payloads that the wait's output or an expression
 * reads.
 */
export function consumedEvents(
  draft: JobDraft,
  step: WaitPlanStep,
  kept: readonly KeptEvent[],
): ReadonlyMap<string, ConsumedEvent> | { readonly error: StepError } {
  const events = new Map<string, ConsumedEvent>();
  for (const { eventId, eventNumber } of kept) {
    const payload: EventPayload = readsPayload(step, eventId) ? draft.payloadOf(eventNumber) : "none";
    if (payload === "tooLarge") {
      const message = `The payloads that ${step.name} waited for are together too large to be read in one transaction. Send smaller payloads.`;
      return { error: { code: "OutputTooLarge", message } };
    }
    const sentAt = draft.progress.sentTimes?.[eventNumber];
    events.set(eventId, {
      payload: payload === "none" ? undefined : payload.value,
      sentAt: sentAt === undefined ? "" : toTime(sentAt),
    });
  }
  return events;
}
