import { Budget, evaluate, parseExpression, type Scope } from "../../../src/core/expression/expression.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";

/** A scope with these parts, in which everything else is absent. */
export function scopeOf(parts: Partial<Scope> = {}): Scope {
  const empty: Scope = {
    input: {},
    step: () => undefined,
    event: () => undefined,
    output: undefined,
    result: undefined,
    error: undefined,
    item: undefined,
    index: undefined,
    fork: () => undefined,
    job: {},
    now: 0,
  };
  // A spread would call the getters of `parts` before any evaluation. A getter shows a test whether an evaluation reads the part.
  return Object.defineProperties(empty, Object.getOwnPropertyDescriptors(parts)) as Scope;
}

export function expressionOf(source: string) {
  const parsed = parseExpression(source);
  if ("problem" in parsed) throw new Error(`${source}: ${parsed.problem.message}`);
  return parsed.expression;
}

/** The value of an expression, or "!" and the message of its failure. */
export function outcomeOf(source: string, scope: Scope = scopeOf(), budget = new Budget()): JsonValue {
  const outcome = evaluate(expressionOf(source), scope, budget);
  return "value" in outcome ? outcome.value : `!${outcome.failure.message}`;
}
