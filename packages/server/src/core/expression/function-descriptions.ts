import type { JsonValue } from "../json/json.ts";
import { functions } from "./functions/catalog.ts";
import { type ExpressionFunction, signatureOf } from "./functions/function.ts";
import type { Macro } from "./tree.ts";

/** The documentation of something that an expression can call: a function, a macro, or `has`. */
export interface FunctionDescription extends Pick<ExpressionFunction, "name" | "forms" | "summary" | "example"> {
  /** The form of a call, such as `list.filter(item, condition)`. */
  readonly signature: string;
}

/** Everything that an expression can call, in the order of the documentation. */
export function describeFunctions(): readonly FunctionDescription[] {
  return [...functions.map((one) => ({ ...one, signature: signatureOf(one) })), has, ...Object.values(macroTexts)];
}

const has: FunctionDescription = {
  name: "has",
  forms: "function",
  signature: "has(path)",
  summary: "Whether something is at the path, such as a property that exists or the output of a step that ran.",
  example: ['has({"a": 1}.b)', false],
};

const macroTexts: Readonly<Record<Macro, FunctionDescription>> = {
  all: macro("all", "condition", "Whether the condition holds for every item of a list.", [
    "[1, 2].all(item, item > 1)",
    false,
  ]),
  exists: macro("exists", "condition", "Whether the condition holds for some item of a list.", [
    "[1, 2].exists(item, item > 1)",
    true,
  ]),
  exists_one: macro("exists_one", "condition", "Whether the condition holds for exactly one item of a list.", [
    "[1, 2].exists_one(item, item > 1)",
    true,
  ]),
  map: macro(
    "map",
    "[condition], value",
    "A list with this value for each item, or for each item for which the condition holds.",
    ["[1, 2].map(item, item * 10)", [10, 20]],
  ),
  filter: macro("filter", "condition", "A list of the items for which the condition holds.", [
    "[1, 2].filter(item, item > 1)",
    [2],
  ]),
};

function macro(name: Macro, rest: string, summary: string, example: [string, JsonValue]): FunctionDescription {
  return { name, forms: "method", signature: `list.${name}(item, ${rest})`, summary, example };
}
