/** Steps and definitions for tests. A definition is the text that is sent to the service. */

const any = { $ref: "#/definitions/any" };
const anyData = { inputDefinition: any, outputDefinition: any };

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

/** `branches` maps the name of each branch to its first step. */
export function parallelStep(
  name: string,
  branches: Readonly<Record<string, string>>,
  transitionToStep: string | null,
): object {
  const type = "/service/parallel";
  return { name, integrationDetails: { type, config: { branches }, ...anyData }, transitionToStep };
}

/** `config` has `items` and `step`, and may have other fields. Its `output` is `counts` by default. */
export function forEachStep(name: string, config: object, transitionToStep: string | null): object {
  const type = "/service/forEach";
  return {
    name,
    integrationDetails: { type, config: { output: "counts", ...config }, ...anyData },
    transitionToStep,
  };
}

/** `config` has `seconds` or `until`. */
export function delayStep(name: string, config: object, transitionToStep: string | null): object {
  return {
    name,
    integrationDetails: { type: "/service/delay", config, inputDefinition: any, outputDefinition: any },
    transitionToStep,
  };
}

/** Returns a step after which the job ends. `more` has further fields of the step. */
export function httpStep(config: object, more: object = {}): object {
  const integrationDetails = { type: "/service/http", config, inputDefinition: any, outputDefinition: any };
  return { name: "call", integrationDetails, transitionToStep: null, ...more };
}

export function definitionOf(...steps: object[]): string {
  return JSON.stringify({ workflowName: "test", steps, definitions: { any: { type: "object" } } });
}

/** Runs to its end without waiting. */
export const straightDefinition = definitionOf(noopStep("first", "second"), noopStep("second", null));

/** Waits for the event `approved`. */
export const waitingDefinition = definitionOf(
  noopStep("prepare", "approve"),
  waitStep("approve", ["approved"], "finish"),
  noopStep("finish", null),
);

/** Fails in its second step, which requires a value that the first step does not output. */
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
