import type { StepRun } from "./step-run.ts";

/** Whether a wait has received an event that it lists. A wait for only some of its events may succeed without the others. */
export type AwaitedState = "received" | "missing" | "unneeded";

export function awaitedStateOf({ receivedEventIds, status }: StepRun, eventId: string): AwaitedState {
  if (receivedEventIds.includes(eventId)) return "received";
  return status === "succeeded" ? "unneeded" : "missing";
}
