import type { JsonValue } from "../../json/json.ts";
import { fitsSchema } from "../check.ts";
import { isMultipleOf } from "../decimal.ts";
import { type ArrayRules, conjuncts, dereferenced, type ObjectRules, type RareRules, type Schema } from "../node.ts";
import { closedRange, fullRange, intersect, openRange, type Range } from "../range.ts";
import { acceptedTypes } from "../shape.ts";
import { allTypes, noTypes, type TypeSet } from "../type-set.ts";
import { alternativesOf } from "./known-alternatives.ts";

/**
 * The knowledge about a value, given as schemas that the value fits. It tells what follows from these schemas for the type, the range and the
 * properties of the value. An answer never claims too much, but it may claim less than could be proved.
 */
export class Known {
  readonly constraints: readonly Schema[];
  /** The constraints and everything in their `allOf`. Each counts here only for what it says itself, without its `allOf` and its alternatives. */
  readonly #nodes: readonly Schema[];
  readonly #arrays: readonly ArrayRules[];
  readonly #objects: readonly ObjectRules[];
  readonly #rare: readonly RareRules[];
  readonly #dependents: ReadonlyMap<string, readonly string[]>;
  readonly #required: ReadonlySet<string>;
  /** The lists of alternatives from which no alternative has been assumed yet. */
  readonly #alternatives: readonly (readonly Schema[])[];
  /** The lists of alternatives from which one has been assumed. */
  readonly #assumed: ReadonlySet<readonly Schema[]>;
  /** The number of cases that `cases` has distinguished so far. This knowledge is one of them. */
  readonly #caseCount: number;

  constructor(constraints: readonly Schema[], assumed: ReadonlySet<readonly Schema[]> = new Set(), caseCount = 1) {
    this.constraints = constraints;
    this.#nodes = [...new Set(constraints.flatMap(conjuncts))];
    this.#alternatives = this.#nodes.flatMap(alternativesOf).filter((list) => !assumed.has(list));
    this.#arrays = this.#nodes.flatMap(({ arrays }) => arrays ?? []);
    this.#objects = this.#nodes.flatMap(({ objects }) => objects ?? []);
    this.#rare = this.#nodes.flatMap(({ rare }) => rare ?? []);
    this.#dependents = dependentsIn(this.#rare);
    this.#required = this.#withDependents(this.#objects.flatMap(({ required }) => required));
    this.#assumed = assumed;
    this.#caseCount = caseCount;
  }

  get types(): TypeSet {
    return typesOfAll(this.constraints);
  }

  /** All values that are possible, when they are so few that they can be tried one by one. Otherwise undefined. */
  get values(): readonly JsonValue[] | undefined {
    for (const { allowed } of this.#nodes) {
      const isShort = allowed !== undefined && allowed.all.length <= maxTriedValues;
      if (isShort) return allowed.all.filter((value) => this.allows(value));
    }
    return undefined;
  }

  /** Whether a value may fit what is known. False only when it certainly does not fit. */
  allows(value: JsonValue): boolean {
    return this.constraints.every((schema) => fitsSchema(schema, value, maxChecksPerValue) !== false);
  }

  get numberRange(): Range {
    return this.#nodes.reduce((range, { numbers }) => {
      if (numbers === undefined) return range;
      const inclusive = closedRange(numbers.minimum, numbers.maximum);
      return intersect(intersect(range, inclusive), openRange(numbers.exclusiveMinimum, numbers.exclusiveMaximum));
    }, fullRange);
  }

  get lengthRange(): Range {
    return this.#nodes.reduce(
      (range, { strings }) =>
        strings === undefined ? range : intersect(range, closedRange(strings.minLength, strings.maxLength)),
      closedRange(0, Number.POSITIVE_INFINITY),
    );
  }

  /** Whether a number is certainly a multiple of `divisor`. `isWhole` says that the number is a whole one. */
  isMultipleOf(divisor: number, isWhole: boolean): boolean {
    if (isWhole && isMultipleOf(1, divisor)) return true;
    return this.#rare.some(({ multipleOf }) => multipleOf !== undefined && isMultipleOf(multipleOf, divisor));
  }

  /** The possible numbers of items. An array ends at the latest before the first item whose schema no value fits. */
  get itemCountRange(): Range {
    return this.#arrays.reduce(
      (range, { prefix = [], items, minItems, maxItems }) => {
        const impossible = prefix.findIndex((schema) => acceptedTypes(schema) === noTypes);
        const isEnd = items !== undefined && acceptedTypes(items) === noTypes;
        const end = impossible !== -1 ? impossible : isEnd ? prefix.length : Number.POSITIVE_INFINITY;
        return intersect(range, closedRange(minItems, Math.min(maxItems, end)));
      },
      closedRange(0, Number.POSITIVE_INFINITY),
    );
  }

  get hasUniqueItems(): boolean {
    return this.#rare.some(({ uniqueItems }) => uniqueItems);
  }

  matchesPattern(source: string): boolean {
    return this.#nodes.some(({ strings }) => strings?.pattern?.source === source);
  }

  hasFormat(format: string): boolean {
    return this.#nodes.some(({ strings }) => strings?.format === format);
  }

  /** The number of items at the beginning that have schemas of their own. */
  get prefixLength(): number {
    return this.#arrays.reduce((length, { prefix }) => Math.max(length, prefix?.length ?? 0), 0);
  }

  /** The schemas that an item of an array fits. After the prefix, all items have the same schemas. */
  item(index: number): readonly Schema[] {
    return this.#arrays.flatMap(({ prefix, items }) => prefix?.[index] ?? items ?? []);
  }

  /** Whether an object certainly has the property. */
  requires(name: string): boolean {
    return this.#required.has(name);
  }

  /** Whether an object can have the property. */
  mayHave(name: string): boolean {
    return typesOfAll(this.property(name)) !== noTypes;
  }

  /** The schemas that the property's value fits. In a schema with patterns, nothing is claimed about an undeclared name, because it may match one. */
  property(name: string): readonly Schema[] {
    return this.#objects.flatMap(({ properties, patterns, additional }) => {
      const declared = properties.get(name);
      return declared ?? (patterns === undefined ? additional : undefined) ?? [];
    });
  }

  /** The schemas that a property's value fits when the property is undeclared, no matter which patterns its name matches. */
  get additional(): readonly Schema[] {
    return this.additionalBeside(noNames);
  }

  /** The schemas that a property's value fits when the property is undeclared and its name matches none of these patterns. */
  additionalBeside(patternSources: ReadonlySet<string>): readonly Schema[] {
    return this.#objects.flatMap(({ patterns = [], additional }) =>
      patterns.every(({ pattern }) => patternSources.has(pattern.source)) ? (additional ?? []) : [],
    );
  }

  /** The schemas that a property's value fits when the property's name matches the pattern. */
  matching(patternSource: string): readonly Schema[] {
    const rules = this.#objects.flatMap(({ patterns }) => patterns ?? []);
    return rules.filter(({ pattern }) => pattern.source === patternSource).map(({ schema }) => schema);
  }

  /** The schemas that the name of each property fits. A name counts as a string. */
  get nameSchemas(): readonly Schema[] {
    return this.#rare.flatMap(({ propertyNames }) => propertyNames ?? []);
  }

  /** The only names that the properties of an object may have. Undefined when they are not known. */
  get onlyNames(): readonly string[] | undefined {
    const closed = this.#objects.find(
      ({ patterns, additional }) =>
        patterns === undefined && additional !== undefined && acceptedTypes(additional) === noTypes,
    );
    return closed && [...closed.properties.keys()].filter((name) => this.mayHave(name));
  }

  get propertyCountRange(): Range {
    const range = closedRange(this.#required.size, this.onlyNames?.length ?? Number.POSITIVE_INFINITY);
    return this.#rare.reduce(
      (all, { minProperties, maxProperties }) => intersect(all, closedRange(minProperties, maxProperties)),
      range,
    );
  }

  /** The properties that an object certainly has. */
  get requiredNames(): ReadonlySet<string> {
    return this.#required;
  }

  /** The properties that an object has if it has this one. */
  dependentsOf(name: string): ReadonlySet<string> {
    return this.#withDependents([name]);
  }

  #withDependents(names: readonly string[]): ReadonlySet<string> {
    const found = new Set(names);
    if (this.#dependents.size === 0) return found;
    // The loop also visits names that it adds to the set.
    for (const name of found) {
      for (const dependent of this.#dependents.get(name) ?? []) found.add(dependent);
    }
    return found;
  }

  /** Whether a value certainly does not fit the schema. */
  excludes(schema: Schema): boolean {
    return this.#rare.some(({ not }) => not !== undefined && dereferenced(not) === dereferenced(schema));
  }

  /** The properties that the schemas name. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#required, ...this.#objects.flatMap(({ properties }) => [...properties.keys()])]);
  }

  /** Returns this knowledge with one more schema that the value fits. */
  and(schema: Schema): Known {
    return new Known([...this.constraints, schema], this.#assumed, this.#caseCount);
  }

  /** One case for each alternative of the first list in `#alternatives`. Undefined when there is no list, or when there would be too many cases. */
  get cases(): readonly Known[] | undefined {
    const [first] = this.#alternatives;
    if (first === undefined) return undefined;
    const caseCount = this.#caseCount * first.length;
    if (caseCount > maxCases) return undefined;
    const assumed = new Set([...this.#assumed, first]);
    return first.map((alternative) => new Known([...this.constraints, alternative], assumed, caseCount));
  }
}

function dependentsIn(rules: readonly RareRules[]): ReadonlyMap<string, readonly string[]> {
  const [only = noDependents, ...others] = rules.flatMap(({ dependentRequired }) => dependentRequired ?? []);
  if (others.length === 0) return only;
  const dependents = new Map<string, string[]>();
  for (const dependentRequired of [only, ...others]) {
    for (const [name, required] of dependentRequired) {
      const known = dependents.get(name) ?? [];
      for (const dependent of required) known.push(dependent);
      dependents.set(name, known);
    }
  }
  return dependents;
}

const noDependents: ReadonlyMap<string, readonly string[]> = new Map();

function typesOfAll(schemas: readonly Schema[]): TypeSet {
  return schemas.reduce((types, schema) => types & acceptedTypes(schema), allTypes);
}

/** Values are tried one by one only when they are few, and with a bound on the checks of each. Beyond these bounds, the answer may be "maybe". */
export const maxTriedValues = 100;
export const maxChecksPerValue = 200;
const maxCases = 64;
const noNames: ReadonlySet<string> = new Set();
