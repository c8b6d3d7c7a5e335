import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { Definition } from "../../../src/core/definition/definition-parts.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { Problem } from "../../../src/core/problem.ts";

/** A step in short form. Its name is also the name of its function. `input` and `output` are the names of its schemas. */
export function call(
  name: string,
  [input, output]: readonly [string, string],
  transitionToStep: JsonValue,
  more: JsonObject = {},
): JsonObject {
  return step(
    name,
    "/service/cloud/function",
    { region: "eu-west-1", accountId: "123456789012", functionName: name },
    [input, output],
    transitionToStep,
    more,
  );
}

export function noop(
  name: string,
  definitions: readonly [string, string],
  transitionToStep: JsonValue,
  more: JsonObject = {},
): JsonObject {
  return step(name, "/service/noop", undefined, definitions, transitionToStep, more);
}

export function wait(
  name: string,
  definitions: readonly [string, string],
  transitionToStep: JsonValue,
  more: JsonObject = {},
): JsonObject {
  return step(name, "/service/waitForEventIds", { eventIds: ["approved"] }, definitions, transitionToStep, more);
}

function step(
  name: string,
  type: string,
  config: JsonObject | undefined,
  [input, output]: readonly [string, string],
  transitionToStep: JsonValue,
  more: JsonObject,
): JsonObject {
  const definitions = {
    inputDefinition: { $ref: `#/definitions/${input}` },
    outputDefinition: { $ref: `#/definitions/${output}` },
  };
  return { name, integrationDetails: { type, ...(config && { config }), ...definitions }, transitionToStep, ...more };
}

/** A closed object with these properties, all required by default. */
export function closed(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** An open object with these properties, all required by default. */
export function open(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required };
}

export const text = { type: "string" };
export const number = { type: "number" };

export interface Findings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Takes an object, or text that may be broken. */
export function parse(definition: JsonValue): Findings & { readonly definition: Definition | undefined } {
  const source = typeof definition === "string" ? definition : JSON.stringify(definition);
  const parsed = parseDefinition(source, catalog, limits);
  const warnings = parsed.warnings.map(withoutPlace);
  if ("problems" in parsed) return { problems: parsed.problems.map(withoutPlace), warnings, definition: undefined };
  return { definition: parsed.definition, warnings, problems: [] };
}

function withoutPlace({ pointer, detail }: Problem): Problem {
  return { pointer, detail };
}

export function workflow(steps: readonly JsonValue[], definitions: JsonObject = { any: {} }): JsonObject {
  return { workflowName: "order-approval", steps: [...steps], definitions };
}
