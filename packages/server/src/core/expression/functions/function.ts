import type { JsonValue } from "../../json/json.ts";
import type { Budget } from "../budget.ts";
import type { Type } from "../types/type.ts";
import type { Kinds, Value } from "../value.ts";

/** A function of expressions: its form, its implementation, and what is known about its results before an evaluation. */
export interface ExpressionFunction {
  readonly name: string;
  /** The forms in which it may be written: `size(x)`, `x.size()`, or both. */
  readonly forms: "function" | "method" | "both";
  readonly parameters: readonly Parameter[];
  /** The number of parameters at the end of the list that may be left out. */
  readonly optionalCount: number;
  /** Whether the last parameter may be repeated. */
  readonly isVariadic: boolean;
  /** Computes the result for values that fit the parameters. It charges the budget, and calls `fail` when there is no result. */
  readonly call: (args: readonly Value[], budget: Budget) => Value;
  /** The type of the result for arguments of these types, which fit the parameters. */
  readonly type: (args: readonly Type[]) => Type;
  /** Completes the sentence "… may fail: " with the reason why the function may fail for arguments of these types. Undefined when it cannot fail. */
  readonly mayFail: (args: readonly Type[]) => string | undefined;
  /**
   * Completes the sentence "… has …" with a mistake that arguments of these types always have, although their kinds are right. Undefined when there
   * is no such mistake.
   */
  readonly mistake: (args: readonly Type[]) => string | undefined;
  /**
   * The cost of calling `type`, `mayFail` and `mistake` for arguments of these types, in units of `TypingBudget`. In addition, every node costs one
   * unit.
   */
  readonly typingCost: (args: readonly Type[]) => number;
  /** A sentence about what it does, for the table of the documentation. */
  readonly summary: string;
  /** An expression and its value, for the documentation. */
  readonly example: readonly [source: string, value: JsonValue];
}

export interface Parameter {
  readonly name: string;
  readonly kinds: Kinds;
}

type Optional = "forms" | "optionalCount" | "isVariadic" | "mayFail" | "mistake" | "typingCost";

/** Defines a function with defaults: both forms, no optional parameters, no failures, and a low cost of typing. */
export function defineFunction(
  parts: Omit<ExpressionFunction, Optional> & Partial<Pick<ExpressionFunction, Optional>>,
): ExpressionFunction {
  return {
    forms: "both",
    optionalCount: 0,
    isVariadic: false,
    mayFail: () => undefined,
    mistake: () => undefined,
    typingCost: () => 0,
    ...parts,
  };
}

/** The form of a call, such as `split(text, separator)` or `text.contains(part)`. */
export function signatureOf({ name, forms, parameters, optionalCount, isVariadic }: ExpressionFunction): string {
  const words = parameters.map((parameter, index) => {
    const word = isVariadic && index === parameters.length - 1 ? `${parameter.name}, …` : parameter.name;
    return index < parameters.length - optionalCount ? word : `[${word}]`;
  });
  if (forms !== "method") return `${name}(${words.join(", ")})`;
  return `${words[0]}.${name}(${words.slice(1).join(", ")})`;
}
