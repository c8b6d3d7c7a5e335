import type { Definition } from "./api.ts";

/** A step in short form: a no-op, or a wait for all of these events. */
export interface StepSketch {
  readonly name: string;
  readonly eventIds?: readonly string[];
}

/** Makes a definition of steps that follow each other. All have the same closed schema for input and output. */
export function definitionOf(
  workflowName: string,
  steps: readonly StepSketch[],
  properties: Readonly<Record<string, object>>,
): Definition {
  const value = { $ref: "#/definitions/value" };
  return {
    workflowName,
    steps: steps.map(({ name, eventIds }, index) => ({
      name,
      integrationDetails: {
        ...(eventIds ? { type: "/service/waitForEventIds", config: { eventIds } } : { type: "/service/noop" }),
        inputDefinition: value,
        outputDefinition: value,
      },
      transitionToStep: steps[index + 1]?.name ?? null,
    })),
    definitions: {
      value: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
    },
  };
}
