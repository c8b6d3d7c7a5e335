import type { ItemsRule } from "../../core/definition/executor-kind.ts";
import { maxItems } from "../../core/definition/fork-result.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Problem } from "../../core/problem.ts";
import type { Executor } from "./executor.ts";

/** The default number of items that run at the same time: large enough that short calls overlap, small enough not to flood the called service. */
const defaultConcurrency = 10;
const items: JsonObject = { type: "array", maxItems };

export const forEach: Executor = {
  type: "/service/forEach",
  title: "For each",
  summary:
    "Runs a body of other steps once for each item of a list; by default the output is the list of the body's outputs, in the order of the items.",
  behaviour: "fork",
  configSchema: {
    type: "object",
    properties: {
      items: {
        description: `The list: an expression such as \${ input.orders }, or a list. At most ${maxItems} items.`,
        ...items,
      },
      step: {
        description:
          "The step where the body begins. The body ends with the transition null, and reads its item as `item`.",
        type: "string",
      },
      concurrency: {
        description: `The maximum number of items that run at the same time; by default ${defaultConcurrency}.`,
        type: "integer",
        minimum: 1,
        maximum: 1_000,
      },
      onItemFailure: {
        description:
          "The effect of a failed item: it fails the step and cancels the other items (fail, the default), or it becomes one of the results (collect).",
        enum: ["fail", "collect"],
      },
      maxFailures: {
        description:
          "With collect, the number of items that may fail. If more fail, the step fails with TooManyFailures.",
        type: "integer",
        minimum: 0,
        maximum: maxItems,
      },
      output: {
        description:
          "The output of the step: the list of the results (list, the default), or only how many items succeeded and failed (counts).",
        enum: ["list", "counts"],
      },
    },
    required: ["items", "step"],
    additionalProperties: false,
  },
  // With `maxItems` here, an expression would be refused at registration if the schema of its list has no `maxItems`, and most schemas have none. A
  // list that is too long fails the step.
  expressionFields: { items: { type: "array" } },
  checkConfig,
  forkRule,
};

function checkConfig({ maxFailures, onItemFailure }: JsonObject): Problem[] {
  if (maxFailures === undefined || onItemFailure === "collect") return [];
  const detail =
    'has an effect only when failures are collected; set `onItemFailure` to "collect", or leave `maxFailures` out';
  return [{ pointer: "/maxFailures", detail }];
}

function forkRule({ step, concurrency, onItemFailure, maxFailures, output }: JsonObject): ItemsRule {
  return {
    kind: "items",
    step: String(step),
    concurrency: typeof concurrency === "number" ? concurrency : defaultConcurrency,
    onItemFailure: onItemFailure === "collect" ? "collect" : "fail",
    maxFailures: typeof maxFailures === "number" ? maxFailures : undefined,
    output: output === "counts" ? "counts" : "list",
  };
}
