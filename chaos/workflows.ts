import type { Definition } from "@stepwell/testing/processes/api.ts";
import { definitionOf, type StepSketch } from "@stepwell/testing/processes/workflow.ts";

/** What a campaign's jobs do: no-ops and waits, one after the other, so that every job's way is known. */
export interface WorkflowShape {
  readonly name: string;
  readonly steps: readonly StepSketch[];
}

export const shapes: readonly WorkflowShape[] = [
  { name: "three-noops", steps: [{ name: "first" }, { name: "second" }, { name: "third" }] },
  { name: "wait-for-1", steps: [{ name: "wait", eventIds: ["go"] }, { name: "after" }] },
  {
    name: "wait-for-3",
    steps: [{ name: "before" }, { name: "wait", eventIds: eventIds("part", 3) }, { name: "after" }],
  },
  { name: "wait-for-10", steps: [{ name: "before" }, { name: "wait", eventIds: eventIds("part", 10) }] },
  {
    // The events of the second wait come early as often as not.
    name: "wait-twice",
    steps: [
      { name: "wait", eventIds: ["go"] },
      { name: "between" },
      { name: "wait-again", eventIds: eventIds("part", 2) },
      { name: "after" },
    ],
  },
];

export function definitionOfShape({ name, steps }: WorkflowShape): Definition {
  return definitionOf(name, steps, { nonce: { type: "string" }, count: { type: "integer" } });
}

export function eventIdsOf({ steps }: WorkflowShape): string[] {
  return steps.flatMap(({ eventIds }) => eventIds ?? []);
}

function eventIds(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}
