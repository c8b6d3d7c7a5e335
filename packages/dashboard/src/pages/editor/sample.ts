/** The definition with which a workflow without a version begins. It has two steps, and it can be run as it is. */
export function sampleFor(workflowName: string): string {
  const anything = { $ref: "#/definitions/anything" };
  const sample = {
    workflowName,
    steps: [
      {
        name: "approve",
        integrationDetails: {
          type: "/service/waitForEventIds",
          config: { eventIds: ["approved"] },
          inputDefinition: anything,
          outputDefinition: anything,
        },
        transitionToStep: "finish",
      },
      {
        name: "finish",
        integrationDetails: { type: "/service/noop", inputDefinition: anything, outputDefinition: anything },
        transitionToStep: null,
      },
    ],
    definitions: { anything: { type: "object" } },
  };
  return `${JSON.stringify(sample, null, 2)}\n`;
}
