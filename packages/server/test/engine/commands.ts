import { hash } from "node:crypto";
import type { UntimedFact } from "../../src/core/job/fact.ts";
import type { FactCommand, SubmitCommand } from "../../src/engine/commit/command.ts";
import type { NodeEngine } from "../../src/engine/node-engine.ts";

const by = { type: "service", id: "test" } as const;

/** Makes a command that submits a job of the version to which `$LIVE` points. */
export function submission(
  engine: Pick<NodeEngine, "newId">,
  workflow: { readonly organizationId: string; readonly workflowId: string },
  more: Partial<SubmitCommand> = {},
): SubmitCommand {
  return {
    type: "submit",
    ...workflow,
    jobId: engine.newId(),
    choice: { by: "tag", tag: "$LIVE" },
    input: {},
    submittedBy: by,
    answer: ({ jobId }) => ({ jobId }),
    bytes: 2,
    ...more,
  };
}

/** Makes a command for something that happens to a job. The command returns the status of the job and the outcome of the fact. */
export function happening(
  key: { readonly organizationId: string; readonly jobId: string },
  fact: UntimedFact,
): FactCommand {
  const { organizationId, jobId } = key;
  return {
    type: "fact",
    organizationId,
    jobId,
    fact,
    answer: ({ state }, verdict) => ({
      status: state.status,
      verdict: verdict.type === "event" ? verdict.outcome : verdict.type,
    }),
    bytes: 2,
  };
}

export function eventReceived(eventId: string): UntimedFact {
  return { type: "event.received", eventId, sentBy: by, keptAs: null };
}

export const cancelled: UntimedFact = { type: "job.cancelled", by };

/** Makes an idempotency key for a request with this content. */
export function keyed(key: string, content = "the same"): Pick<SubmitCommand, "idempotency"> {
  return { idempotency: { key, requestHash: hash("sha256", content, "buffer") } };
}
