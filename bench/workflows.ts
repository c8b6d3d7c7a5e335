import type { Definition } from "@stepwell/testing/processes/api.ts";
import { definitionOf } from "@stepwell/testing/processes/workflow.ts";

export const smallInput = { sku: "A-1", count: 3 };
const properties = { sku: { type: "string" }, count: { type: "integer" } };

export function threeNoops(workflowName: string): Definition {
  return definitionOf(workflowName, [{ name: "first" }, { name: "second" }, { name: "third" }], properties);
}

export function oneWait(workflowName: string, eventId: string): Definition {
  return definitionOf(workflowName, [{ name: "wait", eventIds: [eventId] }], properties);
}

/** Ends well when this time is over. */
export function oneTimer(workflowName: string, timeoutSeconds: number): Definition {
  const definition = definitionOf(workflowName, [{ name: "wait", eventIds: ["never"] }, { name: "end" }], properties);
  const steps = definition.steps.map((step, index) =>
    index === 0 ? { ...step, timeoutSeconds, onFailure: "end" } : step,
  );
  return { ...definition, steps };
}
