import type { JsonObject, JsonValue } from "../json/json.ts";
import { SeenItems } from "../json/seen-items.ts";
import { quoted } from "../problem.ts";
import { count } from "./check-words.ts";
import { isMultipleOf } from "./decimal.ts";
import type { Conditional, RareRules, Schema } from "./node.ts";
import { type TypeSet, typeSets } from "./type-set.ts";

/**
 * The part of the running check (`check.ts`) that the rare rules need. Each `refuse…` method returns false, so that the caller can return its result.
 */
export interface Walk {
  /** Tells whether the value fits, and reports the problems. */
  check(schema: Schema, value: JsonValue): boolean;
  /** Tells whether the value fits, and reports nothing. */
  isFit(schema: Schema, value: JsonValue): boolean;
  /** Says what is wrong with a value that does not fit. Empty when problems are not reported, the reason is secret, or finding it takes too long. */
  whyNot(schema: Schema, value: JsonValue): string;
  /** Whether to go on with the check. `isFit` says whether the value fits so far. */
  mayGoOn(isFit: boolean): boolean;
  namesOf(value: JsonObject): readonly string[];
  /** Takes this many checks from the remaining ones. Returns false when not enough are left. */
  charge(checks: number): boolean;
  refuse(detail: string): false;
  refuseAt(token: string | number, detail: string): false;
  /** Refuses a value that fits none of these alternatives. */
  refuseAll(keyword: "oneOf", alternatives: readonly Schema[], value: JsonValue, type: TypeSet): false;
}

export function checkRareRules(rules: RareRules, value: JsonValue, type: TypeSet, walk: Walk): boolean {
  let isFit = checkByType(rules, value, type, walk);
  const { oneOf, not, conditional } = rules;
  if (oneOf !== undefined && walk.mayGoOn(isFit)) isFit = checkOneOf(oneOf, value, type, walk) && isFit;
  if (not !== undefined && walk.mayGoOn(isFit)) isFit = checkNot(not, value, walk) && isFit;
  if (conditional !== undefined && walk.mayGoOn(isFit)) isFit = checkConditional(conditional, value, walk) && isFit;
  return isFit;
}

function checkByType(rules: RareRules, value: JsonValue, type: TypeSet, walk: Walk): boolean {
  switch (type) {
    case typeSets.whole:
    case typeSets.fraction:
      return rules.multipleOf === undefined || checkMultiple(rules.multipleOf, value as number, walk);
    case typeSets.array:
      return !rules.uniqueItems || checkUniqueItems(value as JsonValue[], walk);
    case typeSets.object:
      return checkObject(rules, value as JsonObject, walk);
    default:
      return true;
  }
}

function checkOneOf(alternatives: readonly Schema[], value: JsonValue, type: TypeSet, walk: Walk): boolean {
  if (!walk.charge(alternatives.length * checksPerWalk)) return false;
  const first = alternatives.findIndex((alternative) => walk.isFit(alternative, value));
  if (first === -1) return walk.refuseAll("oneOf", alternatives, value, type);
  const second = alternatives.findIndex((alternative, index) => index > first && walk.isFit(alternative, value));
  return second === -1 || walk.refuse(`fits both \`oneOf/${first}\` and \`oneOf/${second}\`, but must fit exactly one`);
}

/** The cost of trying an alternative of `oneOf`, or the schema of `not`. The checks within the schema are counted in addition. */
const checksPerWalk = 3;

function checkNot(excluded: Schema, value: JsonValue, walk: Walk): boolean {
  if (!walk.charge(checksPerWalk)) return false;
  return !walk.isFit(excluded, value) || walk.refuse("must not fit the schema of `not`, but does");
}

function checkConditional({ condition, consequent, alternative }: Conditional, value: JsonValue, walk: Walk): boolean {
  return walk.check(walk.isFit(condition, value) ? consequent : alternative, value);
}

function checkMultiple(divisor: number, value: number, walk: Walk): boolean {
  if (!Number.isSafeInteger(value) || !Number.isSafeInteger(divisor)) {
    if (!walk.charge(checksPerDecimal)) return false;
  }
  return isMultipleOf(value, divisor) || walk.refuse(`must be a multiple of ${divisor}`);
}

/** Fractions, and whole numbers too large to be exact, are divided as decimals, which takes about a microsecond. */
const checksPerDecimal = 80;

function checkUniqueItems(items: readonly JsonValue[], walk: Walk): boolean {
  if (items.length < 2) return true;
  const seen = new SeenItems(items, (units) => walk.charge(units));
  let isFit = true;
  for (let index = 0; index < items.length; index++) {
    if (!walk.mayGoOn(isFit)) return false;
    const first = seen.firstEqual(index);
    if (first === undefined) return false;
    if (first < index) isFit = walk.refuseAt(index, `equals item ${first}, but no two items may be equal`);
  }
  return isFit;
}

function checkObject(rules: RareRules, value: JsonObject, walk: Walk): boolean {
  const isFit = checkNames(rules, value, walk);
  const { dependentRequired } = rules;
  if (dependentRequired === undefined || !walk.mayGoOn(isFit)) return isFit;
  return checkDependentRequired(dependentRequired, value, walk) && isFit;
}

function checkNames(
  { minProperties, maxProperties, propertyNames }: RareRules,
  value: JsonObject,
  walk: Walk,
): boolean {
  if (minProperties === 0 && maxProperties === Number.POSITIVE_INFINITY && propertyNames === undefined) return true;
  const names = walk.namesOf(value);
  let isFit = walk.charge(names.length >> 2);
  if (names.length < minProperties) isFit = walk.refuse(`must have at least ${countProperties(minProperties)}`);
  if (names.length > maxProperties) isFit = walk.refuse(`must have at most ${countProperties(maxProperties)}`);
  if (propertyNames === undefined) return isFit;
  for (const name of names) {
    if (!walk.mayGoOn(isFit)) return false;
    isFit = checkName(propertyNames, name, walk) && isFit;
  }
  return isFit;
}

function checkName(schema: Schema, name: string, walk: Walk): boolean {
  if (walk.isFit(schema, name)) return true;
  const reason = walk.whyNot(schema, name);
  return walk.refuseAt(
    name,
    `has a name that \`propertyNames\` does not allow${reason === "" ? "" : `: it ${reason}`}`,
  );
}

function checkDependentRequired(
  dependentRequired: ReadonlyMap<string, readonly string[]>,
  value: JsonObject,
  walk: Walk,
): boolean {
  let isFit = true;
  for (const [name, required] of dependentRequired) {
    if (!walk.charge(1 + (required.length >> 2))) return false;
    for (const dependent of Object.hasOwn(value, name) ? required : []) {
      if (!walk.mayGoOn(isFit)) return false;
      if (!Object.hasOwn(value, dependent))
        isFit = walk.refuseAt(dependent, `is required, because ${quoted(name)} is there`);
    }
  }
  return isFit;
}

function countProperties(amount: number): string {
  return count(amount, "property", "properties");
}
