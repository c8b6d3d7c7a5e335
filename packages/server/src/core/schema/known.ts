import type { JsonValue } from "../json/json.ts";
import { fitsSchema } from "./check.ts";
import { conjuncts, type ObjectRules, type Schema } from "./node.ts";
import { closedRange, fullRange, intersect, openRange, type Range } from "./range.ts";
import { acceptedTypes } from "./shape.ts";
import { allTypes, noTypes, type TypeSet } from "./type-set.ts";

/**
 * What is known of a value: that it fits each of some schemas. Answers what follows for its type, its range, its properties. An
 * answer never claims too much, though it may claim less than could be proved.
 */
export class Known {
  readonly constraints: readonly Schema[];
  /** The constraints taken apart: what each says itself, apart from its `allOf` and `anyOf`. */
  readonly #nodes: readonly Schema[];
  readonly #objects: readonly ObjectRules[];
  readonly #required: ReadonlySet<string>;
  /** The `anyOf`s from which no alternative has been assumed, and those from which one has. */
  readonly #alternatives: readonly (readonly Schema[])[];
  readonly #assumed: ReadonlySet<readonly Schema[]>;
  /** How many cases have been told apart to come here. */
  readonly #caseCount: number;

  constructor(constraints: readonly Schema[], assumed: ReadonlySet<readonly Schema[]> = new Set(), caseCount = 1) {
    this.constraints = constraints;
    this.#nodes = [...new Set(constraints.flatMap(conjuncts))];
    this.#alternatives = this.#nodes.flatMap(({ anyOf }) => (anyOf === undefined || assumed.has(anyOf) ? [] : [anyOf]));
    this.#objects = this.#nodes.flatMap(({ objects }) => objects ?? []);
    this.#required = new Set(this.#objects.flatMap(({ required }) => required));
    this.#assumed = assumed;
    this.#caseCount = caseCount;
  }

  get types(): TypeSet {
    return typesOfAll(this.constraints);
  }

  /** The values that it may be, when they are few enough to be tried one by one. */
  get values(): readonly JsonValue[] | undefined {
    for (const { allowed } of this.#nodes) {
      const isShort = allowed !== undefined && allowed.all.length <= maxTriedValues;
      if (isShort) return allowed.all.filter((value) => this.admits(value));
    }
    return undefined;
  }

  /** False only when the value is certain not to fit what is known. */
  admits(value: JsonValue): boolean {
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

  get itemCountRange(): Range {
    return this.#nodes.reduce(
      (range, { arrays }) =>
        arrays === undefined ? range : intersect(range, closedRange(arrays.minItems, arrays.maxItems)),
      closedRange(0, Number.POSITIVE_INFINITY),
    );
  }

  matchesPattern(source: string): boolean {
    return this.#nodes.some(({ strings }) => strings?.pattern?.source === source);
  }

  hasFormat(format: string): boolean {
    return this.#nodes.some(({ strings }) => strings?.format === format);
  }

  /** What each item of an array fits. */
  get items(): readonly Schema[] {
    return this.#nodes.flatMap(({ arrays }) => (arrays?.items === undefined ? [] : [arrays.items]));
  }

  /** Whether an object is certain to have the property. */
  requires(name: string): boolean {
    return this.#required.has(name);
  }

  /** Whether an object can have the property. */
  mayHave(name: string): boolean {
    return typesOfAll(this.property(name)) !== noTypes;
  }

  /** What the property's value fits, if an object has it. */
  property(name: string): readonly Schema[] {
    return this.#objects.flatMap(({ properties, additional }) => properties.get(name) ?? additional ?? []);
  }

  /** What the values of properties fit that nothing names. */
  get additional(): readonly Schema[] {
    return this.#objects.flatMap(({ additional }) => additional ?? []);
  }

  /** The properties that are named. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#required, ...this.#objects.flatMap(({ properties }) => [...properties.keys()])]);
  }

  /** One case for each alternative of the first `anyOf`; undefined when there is none, or there would be too many. */
  get cases(): readonly Known[] | undefined {
    const [first] = this.#alternatives;
    if (first === undefined) return undefined;
    const caseCount = this.#caseCount * first.length;
    if (caseCount > maxCases) return undefined;
    const assumed = new Set([...this.#assumed, first]);
    return first.map((alternative) => new Known([...this.constraints, alternative], assumed, caseCount));
  }
}

function typesOfAll(schemas: readonly Schema[]): TypeSet {
  return schemas.reduce((types, schema) => types & acceptedTypes(schema), allTypes);
}

/** Values are tried one by one when they are few, and each only for so long: a comparison is no more than help. */
export const maxTriedValues = 100;
export const maxChecksPerValue = 200;
const maxCases = 64;
