import type { Budget } from "./budget.ts";
import { fail } from "./failure.ts";
import { Duration, describeKinds, kindOf, kinds, Timestamp, type Value } from "./value.ts";

/**
 * Compares two values: the result is below zero when the first comes before the second. Numbers, texts (by their UTF-16 units), timestamps and
 * durations have an order, each only with values of its own kind.
 */
export function compare(one: Value, other: Value, budget: Budget): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "string" && typeof other === "string") {
    budget.spendOnText(Math.min(one.length, other.length));
    return one < other ? -1 : one > other ? 1 : 0;
  }
  if (one instanceof Timestamp && other instanceof Timestamp) return one.at - other.at;
  if (one instanceof Duration && other instanceof Duration) return one.ms - other.ms;
  return fail(`compares ${describeKinds(shownKind(one))} with ${describeKinds(shownKind(other))}`);
}

/** The kinds whose values have an order. */
export const orderedKinds = kinds.number | kinds.string | kinds.timestamp | kinds.duration;

/** The kind as users see it. A number with a fraction and one without are the same kind. */
export function shownKind(value: Value): number {
  const kind = kindOf(value);
  return (kind & kinds.number) === 0 ? kind : kinds.number;
}
