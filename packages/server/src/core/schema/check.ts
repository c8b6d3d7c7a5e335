import { canonicalJson, costOfCanonicalJson } from "../json/canonical-json.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { type Problem, pointerOf } from "../problem.ts";
import { checkRareRules, type Walk } from "./check-rare.ts";
import { count, describeAllowed, notAllowed, wrongType } from "./check-words.ts";
import { describeFormat, hasFormat } from "./formats/format.ts";
import {
  type AllowedValues,
  type ArrayRules,
  type NumberRules,
  nothing,
  type ObjectRules,
  type PatternRule,
  type Schema,
  type StringRules,
} from "./node.ts";
import type { Matcher } from "./patterns/matcher.ts";
import type { Pattern } from "./patterns/pattern.ts";
import { acceptedTypes } from "./shape.ts";
import { codePointCount } from "./text-length.ts";
import { describeTypes, type TypeSet, typeOf, typeSets } from "./type-set.ts";

/**
 * Finds the problems of a value, up to a maximum number. The list is empty when the value fits. Messages name types and what is allowed. They never
 * show the value, because it may be a secret or as large as a megabyte.
 */
export function checkValue(schema: Schema, value: JsonValue): Problem[] {
  if (schema === lastFit.schema && value === lastFit.value) return [];
  const problems = new Check(maxChecks, true).problemsOf(schema, value);
  if (problems.length === 0) lastFit = { schema, value };
  return problems;
}

/**
 * The schema and the value of the last check that found no problem. Values never change, and a job often passes a value on unchanged: its input is
 * checked when it is submitted and again when its first step begins.
 */
let lastFit: { readonly schema: Schema | undefined; readonly value: JsonValue } = { schema: undefined, value: null };

/** Says whether a value fits, without the reasons. Undefined when that takes more than `checkLimit` checks. */
export function fitsSchema(schema: Schema, value: JsonValue, checkLimit: number): boolean | undefined {
  return new Check(checkLimit).fits(schema, value);
}

/** Finds the first problem of a value that does not fit. Undefined when it is not found within `checkLimit` checks. */
export function firstProblem(schema: Schema, value: JsonValue, checkLimit: number): Problem | undefined {
  return new Check(checkLimit).firstProblem(schema, value);
}

const maxProblems = 20;

/**
 * The bound on the checks for one value. With nested alternatives and references, the number of checks could grow exponentially with the depth of
 * the value. With other schemas, a value of a megabyte needs a few hundred thousand checks, or up to 1,400,000 if it is a list of short texts under a
 * pattern. The bound is reached after 10 to 30 ms. Then the value counts as one that does not fit. `npm run bench -- definitions` measures the values
 * that take longest.
 */
const maxChecks = 1_500_000;
const tooManyChecks = `takes more than ${maxChecks} checks; simplify the definition (its \`anyOf\` and the like) or send less`;

/** One walk through a value along a schema. It keeps the path, and makes a pointer of it only when it finds a problem, because most values fit. */
class Check implements Walk {
  readonly #problems: Problem[] = [];
  readonly #path: (string | number)[] = [];
  #remaining: number;
  /** Above zero while it only matters whether a value fits a schema, such as that of `not`. No problems are collected then. */
  #silence = 0;
  /** Above zero within a sensitive schema. */
  #sensitivity = 0;
  /**
   * The patterns met so far, with their matchers. Looking a matcher up among those of all definitions takes longer than matching a short text. With
   * `countsCompiling`, a pattern that is not in this map costs the checks for compiling it, even if the check of another value has already
   * compiled it: the result must not depend on that other check.
   */
  #matchers: Map<Pattern, Matcher> | undefined;
  readonly #countsCompiling: boolean;

  /** The names of large objects. They are kept, because alternatives ask for them again and again. */
  #longLists: Map<JsonObject, readonly string[]> | undefined;

  constructor(checkLimit: number, countsCompiling = false) {
    this.#remaining = checkLimit;
    this.#countsCompiling = countsCompiling;
  }

  problemsOf(schema: Schema, value: JsonValue): Problem[] {
    this.check(schema, value);
    return this.#remaining < 0 ? [{ pointer: "", detail: tooManyChecks }] : this.#problems;
  }

  firstProblem(schema: Schema, value: JsonValue): Problem | undefined {
    this.check(schema, value);
    return this.#problems[0];
  }

  fits(schema: Schema, value: JsonValue): boolean | undefined {
    const isFit = this.isFit(schema, value);
    return this.#remaining < 0 ? undefined : isFit;
  }

  isFit(schema: Schema, value: JsonValue): boolean {
    this.#silence++;
    const isFit = this.check(schema, value);
    this.#silence--;
    return isFit;
  }

  whyNot(schema: Schema, value: JsonValue): string {
    if (this.#silence > 0 || this.#sensitivity > 0) return "";
    return new Check(maxChecksForReason).firstProblem(schema, value)?.detail ?? "";
  }

  check(schema: Schema, value: JsonValue): boolean {
    if (--this.#remaining < 0) return false;
    if (!schema.isSensitive) return this.#checkAll(schema, value);
    this.#sensitivity++;
    const isFit = this.#checkAll(schema, value);
    this.#sensitivity--;
    return isFit;
  }

  #checkAll(schema: Schema, value: JsonValue): boolean {
    const type = typeOf(value);
    if ((schema.types & type) === 0) return this.#silence === 0 && this.refuse(wrongType(schema.types, type));
    let isFit = schema.allowed === undefined || this.#checkAllowed(schema.allowed, value);
    if (this.mayGoOn(isFit)) isFit = this.#checkRules(schema, value, type) && isFit;
    for (const part of schema.allOf ?? none) {
      if (this.mayGoOn(isFit)) isFit = this.check(part, value) && isFit;
    }
    if (schema.anyOf !== undefined && this.mayGoOn(isFit)) isFit = this.#checkAnyOf(schema.anyOf, value, type) && isFit;
    if (schema.rare !== undefined && this.mayGoOn(isFit))
      isFit = checkRareRules(schema.rare, value, type, this) && isFit;
    return isFit;
  }

  #checkRules(schema: Schema, value: JsonValue, type: TypeSet): boolean {
    switch (type) {
      case typeSets.string:
        return schema.strings === undefined || this.#checkString(schema.strings, value as string);
      case typeSets.whole:
      case typeSets.fraction:
        return schema.numbers === undefined || this.#checkNumber(schema.numbers, value as number);
      case typeSets.array:
        return schema.arrays === undefined || this.#checkArray(schema.arrays, value as JsonValue[]);
      case typeSets.object:
        return schema.objects === undefined || this.#checkObject(schema.objects, value as JsonObject);
      default:
        return true;
    }
  }

  #checkAllowed(allowed: AllowedValues, value: JsonValue): boolean {
    if (allowed.scalars.has(value)) return true;
    if (allowed.compounds.size > 0 && allowed.compounds.has(this.#canonical(value, allowed.maxCompoundCost)))
      return true;
    if (this.#silence > 0) return false;
    return this.refuse(this.#sensitivity > 0 ? "is not an allowed value" : describeAllowed(allowed));
  }

  /**
   * Returns the canonical text of null, an object or an array. For any other value, and when the text would cost too much, returns an empty text,
   * which equals no allowed value. The cost is counted before the text is made, because a value may be as large as a megabyte, and may be checked
   * against many schemas.
   */
  #canonical(value: JsonValue, maxCost: number): string {
    if (typeof value !== "object") return "";
    const cost = costOfCanonicalJson(value, Math.min(maxCost, this.#remaining));
    this.#remaining -= cost * checksPerCost;
    return cost > maxCost || this.#remaining < 0 ? "" : canonicalJson(value);
  }

  #checkNumber(rules: NumberRules, value: number): boolean {
    let isFit = true;
    if (value < rules.minimum) isFit = this.refuse(`must be ${rules.minimum} or more`);
    if (value > rules.maximum) isFit = this.refuse(`must be ${rules.maximum} or less`);
    if (value <= rules.exclusiveMinimum) isFit = this.refuse(`must be more than ${rules.exclusiveMinimum}`);
    if (value >= rules.exclusiveMaximum) isFit = this.refuse(`must be less than ${rules.exclusiveMaximum}`);
    return isFit;
  }

  #checkString(rules: StringRules, text: string): boolean {
    const { minLength, maxLength, pattern, format } = rules;
    let isFit = true;
    if (this.#isShorter(text, minLength)) isFit = this.refuse(`must be at least ${count(minLength, "character")} long`);
    if (this.#isLonger(text, maxLength)) isFit = this.refuse(`must be at most ${count(maxLength, "character")} long`);
    if (pattern !== undefined && this.mayGoOn(isFit) && !this.#matches(pattern, text)) {
      isFit = this.refuse(`must match the pattern ${pattern.source}`);
    }
    if (format !== undefined && this.mayGoOn(isFit)) {
      if (!this.#hasTimeFor(text)) return false;
      if (!hasFormat(text, format)) isFit = this.refuse(`must be ${describeFormat(format)}`);
    }
    return isFit;
  }

  /** Whether the pattern matches the text. Also false when no checks are left. Then the check gives up, and this answer does not matter. */
  #matches(pattern: Pattern, text: string): boolean {
    const matcher = this.#remaining < 0 ? undefined : this.#matcherOf(pattern);
    return matcher !== undefined && this.charge(checksPerMatch + matcher.costOf(text.length)) && matcher.matches(text);
  }

  #matcherOf(pattern: Pattern): Matcher | undefined {
    const known = this.#matchers?.get(pattern);
    if (known !== undefined) return known;
    if (this.#countsCompiling && !this.charge(pattern.work * checksPerPatternWork)) return undefined;
    const matcher = pattern.matcher();
    this.#matchers ??= new Map();
    this.#matchers.set(pattern, matcher);
    return matcher;
  }

  /** A character takes one or two UTF-16 units. So for most texts, the characters need not be counted. */
  #isShorter(text: string, minLength: number): boolean {
    if (text.length < minLength) return true;
    return text.length < 2 * minLength && this.#hasTimeFor(text) && codePointCount(text) < minLength;
  }

  #isLonger(text: string, maxLength: number): boolean {
    if (text.length <= maxLength) return false;
    return text.length > 2 * maxLength || !this.#hasTimeFor(text) || codePointCount(text) > maxLength;
  }

  /** Takes one of the remaining checks for every eight characters. Returns false when too few checks are left. */
  #hasTimeFor(text: string): boolean {
    return this.charge(text.length >> 3);
  }

  charge(checks: number): boolean {
    this.#remaining -= checks;
    return this.#remaining >= 0;
  }

  #checkArray(rules: ArrayRules, items: readonly JsonValue[]): boolean {
    let isFit = true;
    if (items.length < rules.minItems) isFit = this.refuse(`must have at least ${count(rules.minItems, "item")}`);
    if (items.length > rules.maxItems) isFit = this.refuse(`must have at most ${count(rules.maxItems, "item")}`);
    const first = rules.prefix?.length ?? 0;
    if (rules.prefix !== undefined) isFit = this.#checkPrefix(rules.prefix, items, isFit);
    if (rules.items === undefined) return isFit;
    for (let index = first; index < items.length && this.mayGoOn(isFit); index++) {
      isFit = this.#checkAt(index, rules.items, items[index] as JsonValue) && isFit;
    }
    return isFit;
  }

  #checkPrefix(prefix: readonly Schema[], items: readonly JsonValue[], isFitSoFar: boolean): boolean {
    let isFit = isFitSoFar;
    for (let index = 0; index < Math.min(prefix.length, items.length) && this.mayGoOn(isFit); index++) {
      isFit = this.#checkAt(index, prefix[index] as Schema, items[index] as JsonValue) && isFit;
    }
    return isFit;
  }

  #checkObject(rules: ObjectRules, value: JsonObject): boolean {
    let isFit = this.#checkRequired(rules, value);
    const { properties, patterns, additional } = rules;
    if (properties.size === 0 && additional === undefined && patterns === undefined) return isFit;
    const names = this.namesOf(value);
    this.#remaining -= names.length >> 2;
    for (const name of names) {
      if (!this.mayGoOn(isFit)) return false;
      const property = properties.get(name) ?? additional;
      const isMatched = patterns !== undefined && !properties.has(name) && this.#matchesAny(patterns, name);
      if (isMatched) isFit = this.#checkMatching(patterns, name, value[name] as JsonValue) && isFit;
      else if (property === nothing)
        isFit = this.refuseAt(name, this.#silence > 0 ? "" : notAllowed(name, rules, value));
      else if (property !== undefined) isFit = this.#checkAt(name, property, value[name] as JsonValue) && isFit;
    }
    return isFit;
  }

  namesOf(value: JsonObject): readonly string[] {
    const names = this.#longLists?.get(value) ?? Object.keys(value);
    return names.length <= maxQuickNames ? names : this.#keepNames(value, names);
  }

  #keepNames(value: JsonObject, names: readonly string[]): readonly string[] {
    if (this.#longLists?.has(value) === true) return names;
    this.#remaining -= names.length * checksPerListedName;
    this.#longLists ??= new Map();
    this.#longLists.set(value, names);
    return names;
  }

  /**
   * A name is tried against up to hundreds of matchers in turn. So a matcher is seldom in the processor's cache, and each one costs
   * `checksPerMatcher` checks in addition to its match.
   */
  #matchesAny(patterns: readonly PatternRule[], name: string): boolean {
    this.#remaining -= patterns.length * checksPerMatcher;
    return patterns.some(({ pattern }) => this.#matches(pattern, name));
  }

  #checkMatching(patterns: readonly PatternRule[], name: string, value: JsonValue): boolean {
    let isFit = true;
    for (const { pattern, schema } of patterns) {
      if (!this.mayGoOn(isFit)) return false;
      if (this.#matches(pattern, name)) isFit = this.#checkAt(name, schema, value) && isFit;
    }
    return isFit;
  }

  #checkRequired({ required }: ObjectRules, value: JsonObject): boolean {
    let isFit = true;
    this.#remaining -= required.length >> 2;
    for (const name of required) {
      if (!this.mayGoOn(isFit)) return false;
      if (!Object.hasOwn(value, name)) isFit = this.refuseAt(name, "is required");
    }
    return isFit;
  }

  #checkAt(token: string | number, schema: Schema, value: JsonValue): boolean {
    this.#path.push(token);
    const isFit = this.check(schema, value);
    this.#path.pop();
    return isFit;
  }

  #checkAnyOf(alternatives: readonly Schema[], value: JsonValue, type: TypeSet): boolean {
    if (alternatives.some((alternative) => this.isFit(alternative, value))) return true;
    return this.refuseAll("anyOf", alternatives, value, type);
  }

  refuseAll(keyword: "anyOf" | "oneOf", alternatives: readonly Schema[], value: JsonValue, type: TypeSet): false {
    if (this.#silence > 0 || this.#remaining < 0) return false;
    const candidates = alternatives.filter((alternative) => (acceptedTypes(alternative) & type) !== 0);
    const [onlyCandidate] = candidates;
    // With only one alternative of the value's type, as in the usual "this object or null", it is clear which one was meant and what is wrong.
    if (onlyCandidate !== undefined && candidates.length === 1) {
      this.check(onlyCandidate, value);
      return false;
    }
    if (candidates.length > 1) {
      return this.refuse(
        `fits none of the ${candidates.length} alternatives (\`${keyword}\`) for ${describeTypes(type)}`,
      );
    }
    return this.refuse(
      wrongType(
        alternatives.reduce((types, alternative) => types | acceptedTypes(alternative), 0),
        type,
      ),
    );
  }

  mayGoOn(isFit: boolean): boolean {
    if (this.#remaining < 0) return false;
    return isFit || (this.#silence === 0 && this.#problems.length < maxProblems);
  }

  refuseAt(token: string | number, detail: string): false {
    this.#path.push(token);
    this.refuse(detail);
    this.#path.pop();
    return false;
  }

  refuse(detail: string): false {
    if (this.#silence === 0 && this.#remaining >= 0 && this.#problems.length < maxProblems) {
      this.#problems.push({ pointer: pointerOf(this.#path), detail });
    }
    return false;
  }
}

const none: readonly Schema[] = [];
/** `costOfCanonicalJson` counts in units of about 50 ns, and a check takes about 20 ns. */
const checksPerCost = 2;
const checksPerMatcher = 14;
/** For each match, re2js allocates objects, which takes 150 to 300 ns. The matcher's own cost does not include this. */
const checksPerMatch = 10;
/**
 * The number of names up to which listing them is cheap. An object of thousands of properties keeps them in a table, which is sorted each time the
 * names are listed.
 */
const maxQuickNames = 500;
const checksPerListedName = 4;
/**
 * The bound on the check that finds why a property's name does not fit `propertyNames`. This is a separate check, made for at most twenty problems.
 */
const maxChecksForReason = 1_000;
/**
 * A unit of a pattern's work takes up to 3.5 µs. Even when all patterns of a definition are compiled for one value, a third of the checks is left
 * (`maxPatternWork`).
 */
const checksPerPatternWork = 100;
