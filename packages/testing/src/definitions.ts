/** Definitions for tests, as the text that is sent. */

const any = { $ref: "#/definitions/any" };

export function noopStep(name: string, transitionToStep: string | null): object {
  return {
    name,
    integrationDetails: { type: "/service/noop", inputDefinition: any, outputDefinition: any },
    transitionToStep,
  };
}

export function waitStep(name: string, eventIds: readonly string[], transitionToStep: string | null): object {
  return {
    name,
    integrationDetails: {
      type: "/service/waitForEventIds",
      config: { eventIds },
      inputDefinition: any,
      outputDefinition: any,
    },
    transitionToStep,
  };
}

export function definitionOf(...steps: object[]): string {
  return JSON.stringify({ workflowName: "test", steps, definitions: { any: { type: "object" } } });
}

/** Runs through by itself. */
export const straightDefinition = definitionOf(noopStep("first", "second"), noopStep("second", null));

/** Waits for the event `approved`. */
export const waitingDefinition = definitionOf(
  noopStep("prepare", "approve"),
  waitStep("approve", ["approved"], "finish"),
  noopStep("finish", null),
);

/** Fails in its second step, which wants what the first does not give. */
export const failingDefinition = JSON.stringify({
  workflowName: "test",
  steps: [
    noopStep("first", "second"),
    {
      name: "second",
      integrationDetails: {
        type: "/service/noop",
        inputDefinition: { $ref: "#/definitions/approved" },
        outputDefinition: any,
      },
      transitionToStep: null,
    },
  ],
  definitions: {
    any: { type: "object" },
    approved: { type: "object", properties: { approvedBy: { type: "string" } }, required: ["approvedBy"] },
  },
});
