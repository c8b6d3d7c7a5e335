import type { DefinitionLimits } from "../../src/core/definition.ts";
import type { CallKind, ExecutorCatalog, PassKind, WaitKind } from "../../src/core/executor-kind.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Problem } from "../../src/core/problem.ts";

/** The three executors of the given interface, as far as `core` knows executors. */
export const catalog: ExecutorCatalog = catalogOf(noop(), waitForEventIds(), cloudFunction());

export const limits: DefinitionLimits = {
  maxDefinitionBytes: 512 * 1024,
  maxSteps: 500,
  maxEventIdsPerStep: 100,
  maxNameLength: 256,
  maxDepth: 64,
};

function catalogOf(...kinds: (PassKind | WaitKind | CallKind)[]): ExecutorCatalog {
  return new Map(kinds.map((kind) => [kind.type, kind]));
}

function noop(): PassKind {
  return { type: "/service/noop", behaviour: "pass", configSchema: { type: "object", additionalProperties: false } };
}

function waitForEventIds(): WaitKind {
  return {
    type: "/service/waitForEventIds",
    behaviour: "wait",
    configSchema: {
      type: "object",
      properties: {
        eventIds: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 256 },
          minItems: 1,
          maxItems: 100,
        },
        match: { anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1 }] },
        timeoutSeconds: { type: "number", exclusiveMinimum: 0, maximum: 31_536_000 },
      },
      required: ["eventIds"],
      additionalProperties: false,
    },
    checkConfig: (config) => refuseDoubles(eventIdsOf(config)),
    waitRule: (config) => {
      const eventIds = eventIdsOf(config);
      const requiredCount =
        config.match === "any" ? 1 : typeof config.match === "number" ? config.match : eventIds.length;
      const { timeoutSeconds } = config;
      return {
        eventIds,
        requiredCount,
        ...(typeof timeoutSeconds === "number" && { timeoutMs: timeoutSeconds * 1000 }),
      };
    },
  };
}

function cloudFunction(): CallKind {
  return {
    type: "/service/cloud/function",
    behaviour: "call",
    configSchema: {
      type: "object",
      properties: {
        region: { type: "string" },
        accountId: { type: "string", pattern: "^[0-9]{12}$" },
        functionName: { type: "string" },
      },
      required: ["region", "accountId", "functionName"],
      additionalProperties: false,
    },
  };
}

function eventIdsOf({ eventIds }: JsonObject): string[] {
  return Array.isArray(eventIds) ? eventIds.filter((eventId) => typeof eventId === "string") : [];
}

function refuseDoubles(eventIds: readonly string[]): Problem[] {
  const doubles = [...eventIds.entries()].filter(([index, eventId]) => eventIds.indexOf(eventId) < index);
  return doubles.map(([index]) => ({ pointer: `/eventIds/${index}`, detail: "is listed already" }));
}
