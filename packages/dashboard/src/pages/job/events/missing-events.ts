import type { Wait } from "../../../api/job.ts";
import type { JobStory } from "../job-story.ts";

/** An event that a wait lacks. */
export interface MissingEvent extends Wait {
  readonly eventId: string;
}

/** The events for which the job waits and which it has not received. The events of the wait that has waited longest come first. */
export function missingEventsOf({ waits }: JobStory): readonly MissingEvent[] {
  return waits.flatMap(({ name: step, visit, branch, eventIds = [], receivedEventIds }) =>
    eventIds
      .filter((eventId) => !receivedEventIds.includes(eventId))
      .map((eventId) => ({ eventId, step, visit, ...(branch !== "" && { branch }) })),
  );
}
