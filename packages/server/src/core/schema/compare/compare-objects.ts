import { fitsSchema } from "../check.ts";
import { newSchema, nothing, type ObjectRules, type PatternRule, type RareRules, type Schema } from "../node.ts";
import { closedRange } from "../range.ts";
import { typeSets } from "../type-set.ts";
import { compareRanges } from "./compare-rules.ts";
import type { Comparer } from "./comparer.ts";
import { type Known, maxChecksPerValue } from "./known.ts";
import { allOf, fits, inside, mayNotFit, neverFits, type Outcome, tooLarge } from "./outcome.ts";

export function compareObject(from: Known, rules: ObjectRules, comparer: Comparer): Outcome {
  const { properties, patterns, additional } = rules;
  const required = new Set(rules.required);
  const named = additional === undefined ? [] : from.names;
  const names = new Set([...required, ...properties.keys(), ...named]);
  comparer.charge(names.size / propertiesPerComparison);
  const parts = [...names].map((name) => compareProperty(from, rules, name, required.has(name), comparer));
  if (additional !== undefined) parts.push(compareAdditional(from, additional, patterns, comparer));
  if (patterns !== undefined) {
    const undeclared = [...from.names].filter((name) => !properties.has(name));
    for (const rule of patterns) parts.push(comparePattern(from, rule, undeclared, comparer));
  }
  return allOf(parts);
}

/** Looking up a property costs only a fraction of what a comparison costs. */
const propertiesPerComparison = 10;

function compareProperty(
  from: Known,
  rules: ObjectRules,
  name: string,
  isRequired: boolean,
  comparer: Comparer,
): Outcome {
  const outcome = compareValueOf(from, rules, name, comparer);
  const isThere = from.requires(name);
  if (!isRequired || isThere) return inside(name, outcome, isThere);
  const isNeverThere = !from.mayHave(name) || (outcome.allFit && outcome.noneFits);
  if (isNeverThere) return inside(name, neverFits("missing, but is required"), true);
  // An object with the property does not fit, because the value of the property does not fit. An object without it lacks a required property. So no
  // object fits.
  if (outcome.noneFits) return inside(name, outcome, true);
  return inside(name, mayNotFit("missing, but is required"), true);
}

/**
 * Compares the values of one property. An undeclared name may match a pattern, and then `additionalProperties` does not apply to it. So when there
 * are patterns, a misfit of an undeclared name is uncertain.
 */
function compareValueOf(
  from: Known,
  { properties, patterns, additional }: ObjectRules,
  name: string,
  comparer: Comparer,
): Outcome {
  const declared = properties.get(name);
  const target = declared ?? additional;
  if (target === undefined) return fits;
  const outcome = comparer.compare(from.property(name), target);
  if (declared !== undefined || patterns === undefined || outcome.allFit) return outcome;
  return mayNotFit(target === nothing ? "there, but is not allowed" : "a value that does not fit");
}

/** Compares the values of the properties that neither schema names. Such properties need not be there, so a misfit is uncertain. */
function compareAdditional(
  from: Known,
  target: Schema,
  patterns: readonly PatternRule[] | undefined,
  comparer: Comparer,
): Outcome {
  const sources = new Set(patterns?.map(({ pattern }) => pattern.source));
  if (comparer.compare(from.additionalBeside(sources), target).allFit) return fits;
  return mayNotFit(
    target === nothing
      ? "an object with properties that are not allowed"
      : "an object with other properties that do not fit",
  );
}

/**
 * All values fit if `from` has the same pattern with a schema whose values all fit `schema`, or if every property that may match the pattern fits.
 */
function comparePattern(
  from: Known,
  { pattern, schema }: PatternRule,
  undeclared: readonly string[],
  comparer: Comparer,
): Outcome {
  if (!comparer.charge(undeclared.length / propertiesPerComparison)) return tooLarge;
  if (comparer.compare(from.matching(pattern.source), schema).allFit) return fits;
  const doAllFit =
    comparer.compare(from.additional, schema).allFit &&
    undeclared.every((name) => comparer.compare(from.property(name), schema).allFit);
  return doAllFit
    ? fits
    : mayNotFit(`an object with properties that match the pattern ${pattern.source} and do not fit`);
}

export function compareObjectRarely(from: Known, rules: RareRules, comparer: Comparer): Outcome {
  const { minProperties, maxProperties, propertyNames, dependentRequired } = rules;
  const parts: Outcome[] = [];
  if (minProperties > 0 || maxProperties < Number.POSITIVE_INFINITY) {
    const allowed = closedRange(minProperties, maxProperties);
    parts.push(compareRanges(from.propertyCountRange, allowed, " properties", "an object of "));
  }
  if (propertyNames !== undefined) parts.push(compareNames(from, propertyNames, comparer));
  for (const [name, required] of dependentRequired ?? []) parts.push(compareDependents(from, name, required, comparer));
  return allOf(parts);
}

function compareNames(from: Known, schema: Schema, comparer: Comparer): Outcome {
  if (comparer.compare([anyString, ...from.nameSchemas], schema).allFit) return fits;
  const { requiredNames, onlyNames } = from;
  if (!comparer.charge(requiredNames.size + (onlyNames?.length ?? 0))) return tooLarge;
  const wrong = [...requiredNames].find((name) => fitsSchema(schema, name, maxChecksPerValue) === false);
  if (wrong !== undefined) return inside(wrong, neverFits("there, but has a name that `propertyNames` refuses"), true);
  const doAllFit = onlyNames?.every((name) => fitsSchema(schema, name, maxChecksPerValue) === true) ?? false;
  return doAllFit ? fits : mayNotFit("an object with names that `propertyNames` refuses");
}

const anyString = newSchema({ types: typeSets.string });

function compareDependents(from: Known, name: string, required: readonly string[], comparer: Comparer): Outcome {
  if (!comparer.charge((1 + required.length) / propertiesPerComparison)) return tooLarge;
  if (!from.mayHave(name)) return fits;
  const given = from.dependentsOf(name);
  comparer.charge(given.size / propertiesPerComparison);
  const missing = required.filter((dependent) => !given.has(dependent) && !from.requires(dependent));
  return allOf(
    missing.map((dependent) => {
      const isNever = from.requires(name) && !from.mayHave(dependent);
      const finding = "missing, but is required by `dependentRequired`";
      return inside(dependent, isNever ? neverFits(finding) : mayNotFit(finding), true);
    }),
  );
}
