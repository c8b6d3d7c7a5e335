import type { ArrayRules } from "../node.ts";
import { compareItemCount } from "./compare-rules.ts";
import type { Comparer } from "./comparer.ts";
import type { Known } from "./known.ts";
import { allOf, fits, inside, mayNotFit, type Outcome, tooLarge } from "./outcome.ts";

export function compareArray(from: Known, rules: ArrayRules, comparer: Comparer): Outcome {
  const parts = [compareItemCount(from, rules)];
  const { low, high } = from.itemCountRange;
  const { prefix = [], items } = rules;
  // The items before this index may have schemas of their own. The items from this index on have the same schemas, so only the first is compared.
  const end = Math.max(from.prefixLength, prefix.length);
  if (!comparer.charge(end / itemsPerComparison)) return tooLarge;
  for (let index = 0; index <= end && index < high; index++) {
    const target = prefix[index] ?? items;
    if (target !== undefined) parts.push(inside(index, comparer.compare(from.item(index), target), low > index));
  }
  return allOf(parts);
}

/** Looking up the schemas of an item costs only a fraction of what a comparison costs. */
const itemsPerComparison = 10;

export function compareUniqueItems(from: Known): Outcome {
  const isUnique = from.hasUniqueItems || from.itemCountRange.high <= 1;
  return isUnique ? fits : mayNotFit("an array with equal items");
}
