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
