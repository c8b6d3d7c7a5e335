import type { JsonValue } from "../../json/json.ts";
import { firstProblem, fitsSchema } from "../check.ts";
import { describeFormat } from "../formats/format.ts";
import type { AllowedValues, ArrayRules, NumberRules, Schema, StringRules } from "../node.ts";
import {
  closedRange,
  containsRange,
  describeRange,
  intersect,
  isEmptyRange,
  openRange,
  type Range,
  wholeRange,
} from "../range.ts";
import { describeTypes, noTypes, type TypeSet, typeOf, typeSets } from "../type-set.ts";
import { type Known, maxChecksPerValue, maxTriedValues } from "./known.ts";
import { allOf, eachOf, fits, isVoid, mayNotFit, neverFits, type Outcome } from "./outcome.ts";

/** Compares values with `to` one by one. The list must have every possible value, because the outcome must hold for all of them. */
export function compareValues(values: readonly JsonValue[], to: Schema): Outcome {
  return eachOf(values.map((value) => compareValue(value, to)));
}

function compareValue(value: JsonValue, to: Schema): Outcome {
  const isFit = fitsSchema(to, value, maxChecksPerValue);
  if (isFit === undefined) return mayNotFit("a value that takes too long to check");
  if (isFit) return fits;
  const problem = firstProblem(to, value, maxChecksPerValue);
  // Finding the reason takes more checks than finding that there is a problem. So the checks may be used up before the reason is found.
  const why = problem === undefined ? "" : ` (${problem.detail})`;
  const finding = `${describeShort(value)}, which does not fit${why}`;
  return { allFit: false, noneFits: true, misfits: [{ pointer: problem?.pointer ?? "", finding, isCertain: true }] };
}

function describeShort(value: JsonValue): string {
  const text = typeof value === "object" && value !== null ? "" : JSON.stringify(value);
  return text === "" || text.length > 40 ? describeTypes(typeOf(value)) : text;
}

/**
 * Compares with the allowed values when the values of `from` are not a short list. The result is either that perhaps not all values of `from` are
 * allowed, or that certainly none of them is allowed.
 */
export function compareAllowed(from: Known, allowed: AllowedValues, kind: TypeSet): Outcome {
  const candidates = allowed.all.filter((value) => (typeOf(value) & kind) !== noTypes);
  const isPossible = candidates.length > maxTriedValues || candidates.some((value) => from.allows(value));
  return isPossible
    ? mayNotFit("none of the allowed values (`enum` or `const`)")
    : neverFits("none of the allowed values (`enum` or `const`)");
}

export function compareNumber(from: Known, rules: NumberRules, kind: TypeSet): Outcome {
  const inclusive = closedRange(rules.minimum, rules.maximum);
  const range = intersect(inclusive, openRange(rules.exclusiveMinimum, rules.exclusiveMaximum));
  if (kind !== typeSets.whole) return compareRanges(from.numberRange, range, "");
  return compareRanges(wholeRange(from.numberRange), wholeRange(range), "");
}

export function compareString(from: Known, rules: StringRules): Outcome {
  const { minLength, maxLength, pattern, format } = rules;
  const parts = [compareRanges(from.lengthRange, closedRange(minLength, maxLength), " characters long")];
  if (pattern !== undefined && !from.matchesPattern(pattern.source)) {
    parts.push(mayNotFit(`a text that does not match the pattern ${pattern.source}`));
  }
  if (format !== undefined && !from.hasFormat(format))
    parts.push(mayNotFit(`a text that is not ${describeFormat(format)}`));
  return allOf(parts);
}

export function compareMultiple(from: Known, divisor: number, kind: TypeSet): Outcome {
  if (from.isMultipleOf(divisor, kind === typeSets.whole)) return fits;
  return mayNotFit(`a number that is not a multiple of ${divisor}`);
}

export function compareItemCount(from: Known, { minItems, maxItems }: ArrayRules): Outcome {
  return compareRanges(from.itemCountRange, closedRange(minItems, maxItems), " items long");
}

export function compareRanges(from: Range, to: Range, unit: string, noun = ""): Outcome {
  if (isEmptyRange(from)) return isVoid;
  if (containsRange(to, from)) return fits;
  const difference = `${noun}${describeRange(from)}${unit}, but must be ${noun}${describeRange(to)}${unit}`;
  return isEmptyRange(intersect(from, to)) ? neverFits(difference) : mayNotFit(difference);
}
