import type { DefinitionLimits } from "../../src/core/definition/definition.ts";
import type { CallKind, ExecutorCatalog, PassKind, WaitKind } from "../../src/core/definition/executor-kind.ts";
import { waitForEvents } from "../../src/engine/executors/wait-for-events.ts";

/** The three executors of the given interface, as far as `core` knows executors. */
export const catalog: ExecutorCatalog = catalogOf(
  noop(),
  waitForEvents({ maxEventIdsPerStep: 100, maxNameLength: 256 }),
  cloudFunction(),
);

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
