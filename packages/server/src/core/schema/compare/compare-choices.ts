import type { Conditional, RareRules, Schema } from "../node.ts";
import { acceptedTypes } from "../shape.ts";
import { noTypes, type TypeSet, typeSets } from "../type-set.ts";
import { compareUniqueItems } from "./compare-arrays.ts";
import { compareObjectRarely } from "./compare-objects.ts";
import { compareMultiple } from "./compare-rules.ts";
import type { Comparer } from "./comparer.ts";
import type { Known } from "./known.ts";
import {
  allOf,
  anyOf,
  eachOf,
  exactlyOneOf,
  fits,
  isVoid,
  type Misfit,
  mayNotFit,
  neverFits,
  type Outcome,
  tooLarge,
} from "./outcome.ts";

export function compareRareRules(from: Known, rules: RareRules, kind: TypeSet, comparer: Comparer): Outcome {
  const { oneOf, not, conditional, multipleOf, uniqueItems } = rules;
  const parts: Outcome[] = [];
  if (multipleOf !== undefined && (kind & typeSets.number) !== noTypes)
    parts.push(compareMultiple(from, multipleOf, kind));
  if (uniqueItems && kind === typeSets.array) parts.push(compareUniqueItems(from));
  if (kind === typeSets.object) parts.push(compareObjectRarely(from, rules, comparer));
  if (oneOf !== undefined) parts.push(compareOneOf(from, oneOf, kind, comparer));
  if (not !== undefined) parts.push(compareNot(from, not, kind, comparer));
  if (conditional !== undefined) parts.push(compareConditional(from, conditional, kind, comparer));
  return allOf(parts);
}

export function compareAnyOf(from: Known, alternatives: readonly Schema[], kind: TypeSet, comparer: Comparer): Outcome {
  if (!comparer.charge(1)) return tooLarge;
  const outcomes = compareCandidates(from, alternatives, kind, comparer);
  return anyOf(outcomes, misfitsOf(outcomes, "anyOf"));
}

/** All values fit when all fit the same alternative and none can fit another one. This is so with tags such as `{"kind": {"const": "card"}}`. */
function compareOneOf(from: Known, alternatives: readonly Schema[], kind: TypeSet, comparer: Comparer): Outcome {
  if (!comparer.charge(1)) return tooLarge;
  const outcomes = compareCandidates(from, alternatives, kind, comparer);
  return exactlyOneOf(outcomes, misfitsOf(outcomes, "oneOf"));
}

function compareCandidates(
  from: Known,
  alternatives: readonly Schema[],
  kind: TypeSet,
  comparer: Comparer,
): readonly Outcome[] {
  const candidates = alternatives.filter((alternative) => (acceptedTypes(alternative) & kind) !== noTypes);
  return candidates.map((candidate) => comparer.compareTypes(from, candidate, kind));
}

function misfitsOf(outcomes: readonly Outcome[], keyword: string): readonly Misfit[] {
  const [only] = outcomes;
  // A single candidate, as in "this object or null", must be the alternative that was meant, so it is clear what is wrong.
  if (only !== undefined && outcomes.length === 1) return only.misfits;
  return [{ pointer: "", finding: `none of the ${outcomes.length} alternatives (\`${keyword}\`)`, isCertain: true }];
}

function compareNot(from: Known, excluded: Schema, kind: TypeSet, comparer: Comparer): Outcome {
  if (from.excludes(excluded)) return fits;
  const { allFit, noneFits } = comparer.withoutAssumptions.compareTypes(from, excluded, kind);
  if (noneFits) return allFit ? isVoid : fits;
  const finding = "a value that `not` excludes";
  return allFit ? neverFits(finding) : mayNotFit(finding);
}

function compareConditional(
  from: Known,
  { condition, consequent, alternative }: Conditional,
  kind: TypeSet,
  comparer: Comparer,
): Outcome {
  const tested = comparer.withoutAssumptions.compareTypes(from, condition, kind);
  if (tested.allFit) return comparer.compareTypes(from, consequent, kind);
  if (tested.noneFits) return comparer.compareTypes(from, alternative, kind);
  // The values that do not fit the condition cannot be described completely. So all values of `from` are compared with `alternative`.
  const fitting = from.and(condition);
  return eachOf([
    comparer.compareTypes(fitting, consequent, kind & fitting.types),
    comparer.compareTypes(from, alternative, kind),
  ]);
}
