import type { JsonValue } from "../../json/json.ts";
import type { Budget } from "../budget.ts";
import type { Type } from "../types/type.ts";
import type { Kinds, Value } from "../value.ts";

/** A function of expressions: how it is called, what it answers, and what is known of that before. */
export interface ExpressionFunction {
  readonly name: string;
  /** How it may be written: `size(x)`, `x.size()`, or both. */
  readonly forms: "function" | "method" | "both";
  readonly parameters: readonly Parameter[];
  /** How many of the last parameters may be left out. */
  readonly optionalCount: number;
  /** Whether the last parameter may be given again and again. */
  readonly isVariadic: boolean;
  /** The values fit the parameters. It spends what it costs, and fails by `fail`. */
  readonly call: (args: readonly Value[], budget: Budget) => Value;
  /** The type that it gives for values of these types, which fit the parameters. */
  readonly type: (args: readonly Type[]) => Type;
  /** Why it may fail for values of these types; undefined when it cannot. It completes the sentence "… may fail: ". */
  readonly mayFail: (args: readonly Type[]) => string | undefined;
  /** A mistake that is certain for arguments of these types, although their kinds are right; undefined when there is none. It completes the sentence "… has …". */
  readonly mistake: (args: readonly Type[]) => string | undefined;
  /** The cost of telling the three above for values of these types, in units of `TypingBudget`, beside the one that every node costs. */
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

/** A function that can be written both ways, takes all its parameters, never fails and is cheap to type, as far as nothing else is said. */
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

/** How it is written: "`text.split(separator)`". */
export function signatureOf({ name, forms, parameters, optionalCount, isVariadic }: ExpressionFunction): string {
  const words = parameters.map((parameter, index) => {
    const word = isVariadic && index === parameters.length - 1 ? `${parameter.name}, …` : parameter.name;
    return index < parameters.length - optionalCount ? word : `[${word}]`;
  });
  if (forms !== "method") return `${name}(${words.join(", ")})`;
  return `${words[0]}.${name}(${words.slice(1).join(", ")})`;
}
