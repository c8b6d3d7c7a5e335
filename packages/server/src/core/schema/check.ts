import { didYouMean } from "../closest-name.ts";
import { canonicalJson, costOfCanonicalJson } from "../json/canonical-json.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { type Problem, pointerOf } from "../problem.ts";
import { describeFormat, hasFormat } from "./format.ts";
import {
  type AllowedValues,
  type ArrayRules,
  type NumberRules,
  nothing,
  type ObjectRules,
  type Schema,
  type StringRules,
} from "./node.ts";
import type { Pattern } from "./pattern.ts";
import { acceptedTypes } from "./shape.ts";
import { describeTypes, joinWords, type TypeSet, typeOf, typeSets } from "./type-set.ts";

/**
 * What is wrong with a value, every problem up to a bound; nothing when it fits. Messages name types and what is allowed, never
 * the value: it may be a secret, or a megabyte.
 */
export function checkValue(schema: Schema, value: JsonValue): Problem[] {
  if (schema === lastFit.schema && value === lastFit.value) return [];
  const problems = new Check(maxChecks, new Set()).problemsOf(schema, value);
  if (problems.length === 0) lastFit = { schema, value };
  return problems;
}

/** Values never change, and a job often hands one on as it is: its input is checked when it is submitted and when its first step begins. */
let lastFit: { readonly schema: Schema | undefined; readonly value: JsonValue } = { schema: undefined, value: null };

/** Whether a value fits, without saying why not; undefined when that takes more checks than it is worth. */
export function fitsSchema(schema: Schema, value: JsonValue, checkLimit: number): boolean | undefined {
  return new Check(checkLimit).isFit(schema, value);
}

/** The first thing that is wrong with a value that does not fit, as far as it is found within so many checks. */
export function firstProblem(schema: Schema, value: JsonValue, checkLimit: number): Problem | undefined {
  return new Check(checkLimit).firstProblem(schema, value);
}

const maxProblems = 20;

/**
 * `anyOf` and references in each other can ask for a number of checks that grows exponentially with the depth of the value. In
 * all other schemas a value of a megabyte asks for some hundred thousand. At this bound, after 10 to 40 ms, the check
 * gives up, and the value does not fit. `npm run bench -- definitions` looks for the checks that take longest.
 */
const maxChecks = 2_000_000;
const tooManyChecks = `takes more than ${maxChecks} checks; simplify the definition's \`anyOf\` or send less`;

/** One walk of a value along a schema. The path, not pointers, is kept on the way: most values fit and need no pointer. */
class Check {
  readonly #problems: Problem[] = [];
  readonly #path: (string | number)[] = [];
  #remaining: number;
  /** Above zero while alternatives are tried: then it only matters whether the value fits. */
  #silence = 0;
  /** Above zero within a sensitive schema. */
  #sensitivity = 0;
  /** The patterns that were met, where compiling them counts: whether they are compiled already must not decide what fits. */
  readonly #met: Set<Pattern> | undefined;

  constructor(checkLimit: number, met?: Set<Pattern>) {
    this.#remaining = checkLimit;
    this.#met = met;
  }

  problemsOf(schema: Schema, value: JsonValue): Problem[] {
    this.#check(schema, value);
    return this.#remaining < 0 ? [{ pointer: "", detail: tooManyChecks }] : this.#problems;
  }

  firstProblem(schema: Schema, value: JsonValue): Problem | undefined {
    this.#check(schema, value);
    return this.#problems[0];
  }

  isFit(schema: Schema, value: JsonValue): boolean | undefined {
    const isFit = this.#isFit(schema, value);
    return this.#remaining < 0 ? undefined : isFit;
  }

  #isFit(schema: Schema, value: JsonValue): boolean {
    this.#silence++;
    const isFit = this.#check(schema, value);
    this.#silence--;
    return isFit;
  }

  #check(schema: Schema, value: JsonValue): boolean {
    if (--this.#remaining < 0) return false;
    if (!schema.isSensitive) return this.#checkAll(schema, value);
    this.#sensitivity++;
    const isFit = this.#checkAll(schema, value);
    this.#sensitivity--;
    return isFit;
  }

  #checkAll(schema: Schema, value: JsonValue): boolean {
    const type = typeOf(value);
    if ((schema.types & type) === 0) return this.#silence === 0 && this.#refuse(wrongType(schema.types, type));
    let isFit = schema.allowed === undefined || this.#checkAllowed(schema.allowed, value);
    if (this.#mayGoOn(isFit)) isFit = this.#checkRules(schema, value, type) && isFit;
    for (const part of schema.allOf ?? none) {
      if (this.#mayGoOn(isFit)) isFit = this.#check(part, value) && isFit;
    }
    if (schema.anyOf !== undefined && this.#mayGoOn(isFit))
      isFit = this.#checkAlternatives(schema.anyOf, value, type) && isFit;
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
    return this.#refuse(this.#sensitivity > 0 ? "is not an allowed value" : describeAllowed(allowed));
  }

  /** Counted before it is made: a value may be a megabyte, and be held against many schemas. Nothing is equal to "". */
  #canonical(value: JsonValue, maxCost: number): string {
    if (typeof value !== "object") return "";
    const cost = costOfCanonicalJson(value, Math.min(maxCost, this.#remaining));
    this.#remaining -= cost;
    return cost > maxCost || this.#remaining < 0 ? "" : canonicalJson(value);
  }

  #checkNumber(rules: NumberRules, value: number): boolean {
    let isFit = true;
    if (value < rules.minimum) isFit = this.#refuse(`must be ${rules.minimum} or more`);
    if (value > rules.maximum) isFit = this.#refuse(`must be ${rules.maximum} or less`);
    if (value <= rules.exclusiveMinimum) isFit = this.#refuse(`must be more than ${rules.exclusiveMinimum}`);
    if (value >= rules.exclusiveMaximum) isFit = this.#refuse(`must be less than ${rules.exclusiveMaximum}`);
    return isFit;
  }

  #checkString(rules: StringRules, text: string): boolean {
    const { minLength, maxLength, pattern, format } = rules;
    let isFit = true;
    if (this.#isShorter(text, minLength))
      isFit = this.#refuse(`must be at least ${count(minLength, "character")} long`);
    if (this.#isLonger(text, maxLength)) isFit = this.#refuse(`must be at most ${count(maxLength, "character")} long`);
    if (pattern !== undefined && this.#mayGoOn(isFit)) {
      if (!this.#hasTimeToCompile(pattern)) return false;
      const matcher = pattern.matcher();
      this.#remaining -= matcher.costOf(text.length);
      if (this.#remaining < 0) return false;
      if (!matcher.matches(text)) isFit = this.#refuse(`must match the pattern ${pattern.source}`);
    }
    if (format !== undefined && this.#mayGoOn(isFit)) {
      if (!this.#hasTimeFor(text)) return false;
      if (!hasFormat(text, format)) isFit = this.#refuse(`must be ${describeFormat(format)}`);
    }
    return isFit;
  }

  /** A character takes one UTF-16 unit or two, so that most texts need not be counted. */
  #isShorter(text: string, minLength: number): boolean {
    if (text.length < minLength) return true;
    return text.length < 2 * minLength && this.#hasTimeFor(text) && codePointCount(text) < minLength;
  }

  #isLonger(text: string, maxLength: number): boolean {
    if (text.length <= maxLength) return false;
    return text.length > 2 * maxLength || !this.#hasTimeFor(text) || codePointCount(text) > maxLength;
  }

  /** Long texts count as many checks: eight characters as one. */
  #hasTimeFor(text: string): boolean {
    this.#remaining -= text.length >> 3;
    return this.#remaining >= 0;
  }

  #hasTimeToCompile(pattern: Pattern): boolean {
    if (this.#met === undefined || this.#met.has(pattern)) return true;
    this.#met.add(pattern);
    this.#remaining -= pattern.work * checksPerPatternWork;
    return this.#remaining >= 0;
  }

  #checkArray(rules: ArrayRules, items: readonly JsonValue[]): boolean {
    let isFit = true;
    if (items.length < rules.minItems) isFit = this.#refuse(`must have at least ${count(rules.minItems, "item")}`);
    if (items.length > rules.maxItems) isFit = this.#refuse(`must have at most ${count(rules.maxItems, "item")}`);
    if (rules.items === undefined) return isFit;
    for (let index = 0; index < items.length && this.#mayGoOn(isFit); index++) {
      isFit = this.#checkAt(index, rules.items, items[index] as JsonValue) && isFit;
    }
    return isFit;
  }

  #checkObject(rules: ObjectRules, value: JsonObject): boolean {
    let isFit = this.#checkRequired(rules, value);
    if (rules.properties.size === 0 && rules.additional === undefined) return isFit;
    const names = Object.keys(value);
    this.#remaining -= names.length >> 2;
    for (const name of names) {
      if (!this.#mayGoOn(isFit)) return false;
      const property = rules.properties.get(name) ?? rules.additional;
      if (property === nothing) isFit = this.#refuseAt(name, this.#silence > 0 ? "" : notAllowed(name, rules, value));
      else if (property !== undefined) isFit = this.#checkAt(name, property, value[name] as JsonValue) && isFit;
    }
    return isFit;
  }

  #checkRequired({ required }: ObjectRules, value: JsonObject): boolean {
    let isFit = true;
    this.#remaining -= required.length >> 2;
    for (const name of required) {
      if (!this.#mayGoOn(isFit)) return false;
      if (!Object.hasOwn(value, name)) isFit = this.#refuseAt(name, "is required");
    }
    return isFit;
  }

  #checkAt(token: string | number, schema: Schema, value: JsonValue): boolean {
    this.#path.push(token);
    const isFit = this.#check(schema, value);
    this.#path.pop();
    return isFit;
  }

  #checkAlternatives(alternatives: readonly Schema[], value: JsonValue, type: TypeSet): boolean {
    if (alternatives.some((alternative) => this.#isFit(alternative, value))) return true;
    if (this.#silence > 0 || this.#remaining < 0) return false;
    const candidates = alternatives.filter((alternative) => (acceptedTypes(alternative) & type) !== 0);
    const [onlyCandidate] = candidates;
    // For the usual "this object or null" it is clear which alternative was meant, and so what is wrong.
    if (onlyCandidate !== undefined && candidates.length === 1) return this.#check(onlyCandidate, value);
    if (candidates.length > 1) {
      return this.#refuse(`fits none of the ${candidates.length} alternatives (\`anyOf\`) for ${describeTypes(type)}`);
    }
    return this.#refuse(
      wrongType(
        alternatives.reduce((types, alternative) => types | acceptedTypes(alternative), 0),
        type,
      ),
    );
  }

  /** Whether to look for more that is wrong. */
  #mayGoOn(isFit: boolean): boolean {
    return isFit || (this.#silence === 0 && this.#remaining >= 0 && this.#problems.length < maxProblems);
  }

  #refuseAt(name: string, detail: string): false {
    this.#path.push(name);
    this.#refuse(detail);
    this.#path.pop();
    return false;
  }

  #refuse(detail: string): false {
    if (this.#silence === 0 && this.#problems.length < maxProblems) {
      this.#problems.push({ pointer: pointerOf(this.#path), detail });
    }
    return false;
  }
}

const none: readonly Schema[] = [];
/** A unit is up to 3.5 µs. A definition's patterns, all of them in one value, leave two fifths of the checks (`pattern-book.ts`). */
const checksPerPatternWork = 120;

function wrongType(wanted: TypeSet, found: TypeSet): string {
  // Who sees "must be an integer" wants to hear why the number that is there is none.
  const isFraction = found === typeSets.fraction && (wanted & typeSets.whole) !== 0;
  const foundType = found === typeSets.whole ? typeSets.number : found;
  const shown = isFraction
    ? "a number with a fraction"
    : found === typeSets.fraction
      ? "a number"
      : describeTypes(foundType);
  return wanted === 0 ? "is not allowed here" : `must be ${describeTypes(wanted)}, but is ${shown}`;
}

function notAllowed(name: string, rules: ObjectRules, value: JsonObject): string {
  const missing = [...rules.properties.keys()].filter((declared) => !Object.hasOwn(value, declared));
  return `is not a property that is allowed here${didYouMean(name, missing)}`;
}

function describeAllowed({ all, compounds }: AllowedValues): string {
  const isShort = compounds.size === 0 && all.length <= 10;
  const list = isShort
    ? joinWords(
        all.map((value) => JSON.stringify(value)),
        "or",
      )
    : "";
  if (isShort && list.length <= 200) return `must be ${list}`;
  return `is not among the ${count(all.length, "allowed value")}`;
}

function count(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}

function codePointCount(text: string): number {
  let pairs = 0;
  for (let index = 1; index < text.length; index++) {
    const isPair = (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isPair) pairs++;
  }
  return text.length - pairs;
}
