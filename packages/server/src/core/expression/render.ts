import type { JsonValue } from "../json/json.ts";
import { pointerTo } from "../problem.ts";
import type { Budget } from "./budget.ts";
import { evaluate } from "./evaluate.ts";
import { ExpressionFailure } from "./failure.ts";
import { textOf } from "./functions/text-functions.ts";
import type { Scope } from "./scope.ts";
import type { PlacedExpression, Template, TemplateNode } from "./template.ts";

/**
 * The reason why a template has no value, and its place. The pointer leads to a string in the template, and the offset is the place in this string.
 */
export interface TemplateFailure {
  readonly pointer: string;
  readonly offset: number;
  readonly message: string;
  readonly kind: ExpressionFailure["kind"];
}

/** Returns the value of a template. A template without expressions always gives the same value, and costs nothing. */
export function renderTemplate(
  { root }: Template,
  scope: Scope,
  budget: Budget,
): { readonly value: JsonValue } | { readonly failure: TemplateFailure } {
  if (root.kind === "constant") return { value: root.value };
  const rendering = new Rendering(scope, budget);
  try {
    return { value: rendering.value(root, "", 0) };
  } catch (error) {
    if (error instanceof PlacedFailure) return { failure: error };
    throw error;
  }
}

class PlacedFailure implements TemplateFailure {
  readonly pointer: string;
  readonly offset: number;
  readonly message: string;
  readonly kind: ExpressionFailure["kind"];

  constructor(pointer: string, offset: number, { message, kind }: ExpressionFailure) {
    this.pointer = pointer;
    this.offset = offset;
    this.message = message;
    this.kind = kind;
  }
}

class Rendering {
  readonly #scope: Scope;
  readonly #budget: Budget;

  constructor(scope: Scope, budget: Budget) {
    this.#scope = scope;
    this.#budget = budget;
  }

  value(node: TemplateNode, pointer: string, depth: number): JsonValue {
    switch (node.kind) {
      case "constant":
        return node.value;
      case "expression":
        return this.#evaluated(node.placed, pointer, depth);
      case "text":
        return node.parts.map((part) => this.#text(part, pointer)).join("");
      case "list":
        return node.items.map((item, index) => this.value(item, pointerTo(pointer, index), depth + 1));
      case "map":
        return Object.fromEntries(
          node.entries.map(([key, part]) => [key, this.value(part, pointerTo(pointer, key), depth + 1)]),
        );
      default:
        return node satisfies never;
    }
  }

  #text(part: string | PlacedExpression, pointer: string): string {
    if (typeof part === "string") return part;
    const value = this.#evaluated(part, pointer, 0);
    try {
      return textOf(value, this.#budget);
    } catch (error) {
      if (error instanceof ExpressionFailure) throw new PlacedFailure(pointer, part.offset, error);
      throw error;
    }
  }

  #evaluated({ expression, offset }: PlacedExpression, pointer: string, depth: number): JsonValue {
    const outcome = evaluate(expression, this.#scope, this.#budget, depth);
    if ("value" in outcome) return outcome.value;
    throw new PlacedFailure(pointer, offset + (outcome.failure.offset ?? 0), outcome.failure);
  }
}
