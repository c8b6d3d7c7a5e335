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

/** Returns a workflow that counts to `times` in a step that leads back to itself. */
export function countingLoop(workflowName: string, times: number): Definition {
  const { steps, definitions } = definitionOf(workflowName, [{ name: "count" }], properties);
  const count = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const [step] = steps as readonly { readonly integrationDetails: object }[];
  const reference = { $ref: "#/definitions/count" };
  const counting = {
    ...step,
    integrationDetails: { type: "/service/transform", inputDefinition: reference, outputDefinition: reference },
    input: { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" },
    transitionToStep: { choose: [{ if: `output.n < ${times}`, then: "count" }], else: null },
  };
  return { workflowName, steps: [counting], definitions: { ...definitions, count } };
}

export function oneDelay(workflowName: string, until: string): Definition {
  const definition = definitionOf(workflowName, [{ name: "sleep" }, { name: "end" }], properties);
  const steps = definition.steps.map((step, index) => (index === 0 ? delayed(step, until) : step));
  return { ...definition, steps };
}

function delayed(step: object, until: string): object {
  const { integrationDetails } = step as { readonly integrationDetails: object };
  return { ...step, integrationDetails: { ...integrationDetails, type: "/service/delay", config: { until } } };
}

export function oneTask(workflowName: string, queue: string): Definition {
  const definition = definitionOf(workflowName, [{ name: "work" }], properties);
  const steps = definition.steps.map((step) => {
    const { integrationDetails } = step as { readonly integrationDetails: object };
    return { ...step, integrationDetails: { ...integrationDetails, type: "/service/task", config: { queue } } };
  });
  return { ...definition, steps };
}

/** The kinds of step that `eachItem` can run for an item. */
export const itemBodies = ["noop", "transform", "delay", "task"] as const;
export type ItemBody = (typeof itemBodies)[number];

/** Returns a workflow that runs one step for each item in the input's `items`, for at most `concurrency` items at a time. */
export function eachItem(workflowName: string, body: ItemBody, concurrency: number): Definition {
  const item = { $ref: "#/definitions/item" };
  const list = { $ref: "#/definitions/list" };
  const input = { $ref: "#/definitions/input" };
  const forEach = {
    type: "/service/forEach",
    config: { items: "${ input.items }", step: "body", concurrency },
    inputDefinition: input,
    outputDefinition: list,
  };
  return {
    workflowName,
    steps: [
      { name: "each", integrationDetails: forEach, transitionToStep: null },
      {
        name: "body",
        integrationDetails: { ...bodyDetails[body], inputDefinition: item, outputDefinition: item },
        ...(body === "transform" && { input: "${ item * 2 }" }),
        transitionToStep: null,
      },
    ],
    definitions: {
      item: { type: "integer" },
      list: { type: "array", items: item },
      input: { type: "object", properties: { items: list }, required: ["items"], additionalProperties: false },
    },
  };
}

const bodyDetails: Readonly<Record<ItemBody, object>> = {
  noop: { type: "/service/noop" },
  transform: { type: "/service/transform" },
  delay: { type: "/service/delay", config: { seconds: 1 } },
  task: { type: "/service/task", config: { queue: "bench" } },
};

/** Returns a workflow that succeeds when this time is over. */
export function oneTimer(workflowName: string, timeoutSeconds: number): Definition {
  const definition = definitionOf(workflowName, [{ name: "wait", eventIds: ["never"] }, { name: "end" }], properties);
  const steps = definition.steps.map((step, index) =>
    index === 0 ? { ...step, timeoutSeconds, onFailure: "end" } : step,
  );
  return { ...definition, steps };
}
