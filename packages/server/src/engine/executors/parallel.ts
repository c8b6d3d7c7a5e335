import type { BranchesRule } from "../../core/definition/executor-kind.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Problem } from "../../core/problem.ts";
import type { Executor } from "./executor.ts";

export function parallel({ maxNameLength }: { maxNameLength: number }): Executor {
  return {
    type: "/service/parallel",
    title: "Parallel",
    summary:
      "Runs branches of other steps at the same time; the output has the output of each branch, by its name, or only that of the first branch that succeeds.",
    behaviour: "fork",
    configSchema: {
      type: "object",
      properties: {
        branches: {
          description:
            "The branches: for each name, the step where the branch begins. The branch ends with the transition null.",
          type: "object",
          propertyNames: {
            type: "string",
            minLength: 1,
            maxLength: maxNameLength,
            pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*$",
          },
          additionalProperties: { type: "string" },
          minProperties: 1,
          maxProperties: 1_000,
        },
        until: {
          description:
            "When the step ends. With all (the default), it ends when all branches have succeeded or one has failed; with any, when one branch has succeeded or all have failed. The end cancels the branches that still run.",
          enum: ["all", "any"],
        },
      },
      required: ["branches"],
      additionalProperties: false,
    },
    checkConfig,
    forkRule,
  };
}

/** Refuses two branches that begin at the same step, because no step may belong to two branches. */
function checkConfig(config: JsonObject): Problem[] {
  const seen = new Map<string, string>();
  return startsIn(config).flatMap(({ name, step }) => {
    const earlier = seen.get(step);
    seen.set(step, earlier ?? name);
    if (earlier === undefined) return [];
    return [
      {
        pointer: "/branches",
        detail: `"${earlier}" and "${name}" begin at the same step; let each begin at a step of its own`,
      },
    ];
  });
}

function forkRule(config: JsonObject): BranchesRule {
  return { kind: "branches", branches: startsIn(config), until: config.until === "any" ? "any" : "all" };
}

function startsIn({ branches = null }: JsonObject): BranchesRule["branches"] {
  const named = isJsonObject(branches) ? Object.entries(branches) : [];
  return named.flatMap(([name, step]) => (typeof step === "string" ? [{ name, step }] : []));
}
