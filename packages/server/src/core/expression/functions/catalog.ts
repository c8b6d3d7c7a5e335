import type { ExpressionFunction } from "./function.ts";
import { listFunctions } from "./list-functions.ts";
import { textFunctions } from "./text-functions.ts";
import { timeFunctions } from "./time-functions.ts";
import { valueFunctions } from "./value-functions.ts";

/** Every function of expressions, in the order of the documentation. */
export const functions: readonly ExpressionFunction[] = [
  ...textFunctions,
  ...listFunctions,
  ...valueFunctions,
  ...timeFunctions,
];

const byName: ReadonlyMap<string, ExpressionFunction> = new Map(functions.map((one) => [one.name, one]));

export function findFunction(name: string): ExpressionFunction | undefined {
  return byName.get(name);
}

export function functionNames(): Iterable<string> {
  return byName.keys();
}
