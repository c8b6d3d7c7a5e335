import type { JsonValue } from "../../json/json.ts";
import type { JobDraft } from "../draft.ts";
import type { AwaitedEvents, StepPosition } from "../job-state.ts";

/**
 * Fails the job if, with this wait, the ids for which its open branches wait would be too long together. Returns whether the job failed. The ids are
 * in the state, which is written with each change. A thousand branches that wait for a hundred long ids each would make the state 25 MB large.
 */
export function failForAwaitedIds(
  draft: JobDraft,
  position: StepPosition,
  input: JsonValue,
  { eventIds }: AwaitedEvents,
): boolean {
  let size = sizeOf(eventIds);
  for (const { stand } of draft.cursors) if (stand?.phase === "waiting") size += sizeOf(stand.missingEventIds);
  if (size <= maxSize) return false;
  const message = `The event ids for which the open branches of the job would wait have ${size} characters together; the maximum is ${maxSize}. Give shorter ids, wait for fewer in each branch, or lower a \`concurrency\`.`;
  const error = { code: "ValueLimitExceeded", message } as const;
  const { name, visit, attempt } = position;
  draft.record({ type: "step.failed", step: name, visit, attempt, error });
  draft.fail({ phase: "in", ...position, input }, attempt, error);
  return true;
}

function sizeOf(eventIds: readonly string[]): number {
  return eventIds.reduce((sum, { length }) => sum + length, 0);
}

/** Enough for a thousand waits with about twenty ids of usual length each. */
const maxSize = 1_000_000;
