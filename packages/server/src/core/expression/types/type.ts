import type { JsonValue } from "../../json/json.ts";
import { Known } from "../../schema/compare/known.ts";
import { allOfSchemas, allowOnly, anyOfSchemas, anything, newSchema, nothing, type Schema } from "../../schema/node.ts";
import { acceptedTypes } from "../../schema/shape.ts";
import { allTypes, noTypes, typeOf } from "../../schema/type-set.ts";
import { type Kinds, kinds, timeKinds } from "../value.ts";

/**
 * What is known about a value before it exists. If the value is JSON, it fits the schema. `times` says whether it may be a timestamp or a duration
 * instead.
 */
export interface Type {
  readonly schema: Schema;
  readonly times: Kinds;
}

export function typeOfSchema(schema: Schema): Type {
  return { schema, times: noTypes };
}

/** The type of a value of which only the kinds are known. */
export function typeOfKinds(set: Kinds): Type {
  const known = typesByKinds.get(set);
  if (known !== undefined) return known;
  const json = set & allTypes;
  const type = { schema: json === allTypes ? anything : newSchema({ types: json }), times: set & timeKinds };
  typesByKinds.set(set, type);
  return type;
}

/** There are few of these types. They are shared: types with the same kinds are one object, so equal alternatives are found by identity. */
const typesByKinds = new Map<Kinds, Type>();

/** The type that only this value has. */
export function typeOfValue(value: JsonValue): Type {
  return typeOfSchema(newSchema({ types: typeOf(value), allowed: allowOnly([value]) }));
}

/** The type of a list whose items fit the type; `low` and `high` bound the number of items. */
export function listOf(items: Type, low = 0, high = Number.POSITIVE_INFINITY): Type {
  const arrays = { prefix: undefined, items: toJsonSchema(items), minItems: low, maxItems: high };
  return typeOfSchema(newSchema({ types: kinds.array, arrays }));
}

/** The type of a list that has exactly these items. */
export function tupleOf(items: readonly Type[]): Type {
  if (items.length > maxTuple) return listOf(eitherOf(items), items.length, items.length);
  const prefix = items.map(toJsonSchema);
  const arrays = { prefix, items: nothing, minItems: items.length, maxItems: items.length };
  return typeOfSchema(newSchema({ types: kinds.array, arrays }));
}

/** The maximum number of items that have types of their own. The items of a longer list have one common type. */
const maxTuple = 20;

export const anyType: Type = typeOfSchema(anything);
export const noType: Type = typeOfSchema(nothing);
export const booleanType: Type = typeOfKinds(kinds.boolean);
export const stringType: Type = typeOfKinds(kinds.string);
export const numberType: Type = typeOfKinds(kinds.number);
export const wholeType: Type = typeOfKinds(kinds.whole);
export const timestampType: Type = typeOfKinds(kinds.timestamp);
export const durationType: Type = typeOfKinds(kinds.duration);
export const countType: Type = typeOfSchema(
  newSchema({
    types: kinds.whole,
    numbers: {
      minimum: 0,
      maximum: Number.POSITIVE_INFINITY,
      exclusiveMinimum: Number.NEGATIVE_INFINITY,
      exclusiveMaximum: Number.POSITIVE_INFINITY,
    },
  }),
);

/** The schema of the value as JSON, in which times are texts. */
export function toJsonSchema({ schema, times }: Type): Schema {
  if (times === noTypes) return schema;
  const texts = [
    ...((times & kinds.timestamp) === 0 ? [] : [timestampText]),
    ...((times & kinds.duration) === 0 ? [] : [durationText]),
  ];
  return anyOfSchemas((schema.types === noTypes ? [] : [schema]).concat(texts));
}

const freeText = { minLength: 0, maxLength: Number.POSITIVE_INFINITY, pattern: undefined };
/** The schema of a time as JSON. */
export const timestampText = newSchema({ types: kinds.string, strings: { ...freeText, format: "date-time" } });
const durationText = newSchema({ types: kinds.string, strings: { ...freeText, minLength: 2, format: undefined } });

export function eitherOf(types: readonly Type[]): Type {
  const possible = types.filter((type) => kindsOf(type) !== noTypes);
  const times = possible.reduce((set, type) => set | type.times, noTypes);
  const schemas = [...new Set(possible.flatMap(({ schema }) => alternativesOf(schema)))];
  const some = schemas.filter((schema) => schema.types !== noTypes);
  if (some.length > maxAlternatives)
    return typeOfKinds(some.reduce((set, schema) => set | acceptedTypes(schema), times));
  return { schema: anyOfSchemas(withOneEnum(some)), times };
}

/**
 * A type with more alternatives is reduced to its kinds. Otherwise the type in a chain of operations would grow with each operation, and would cost
 * the square of the chain's length.
 */
const maxAlternatives = 32;

/** If the schema has only an `anyOf`: its alternatives, flattened, so that `maxAlternatives` bounds all of them. Otherwise the schema itself. */
function alternativesOf(schema: Schema): readonly Schema[] {
  const { types, allowed, anyOf } = schema;
  const isChoice = anyOf !== undefined && types === allTypes && allowed === undefined && !hasOtherRules(schema);
  return isChoice ? anyOf.flatMap(alternativesOf) : [schema];
}

/** Makes one alternative of all those that say only which values are allowed. */
function withOneEnum(schemas: readonly Schema[]): readonly Schema[] {
  const [enums, others] = [schemas.filter(isEnum), schemas.filter((schema) => !isEnum(schema))];
  if (enums.length < 2) return schemas;
  const values = [...new Set(enums.flatMap(({ allowed }) => allowed?.all ?? []))];
  return [
    ...others,
    newSchema({
      types: values.reduce<Kinds>((types, value) => types | typeOf(value), noTypes),
      allowed: allowOnly(values),
    }),
  ];
}

function isEnum(schema: Schema): boolean {
  return schema.allowed !== undefined && schema.anyOf === undefined && !hasOtherRules(schema);
}

/** Whether a schema says more than types, allowed values and alternatives. */
function hasOtherRules({ numbers, strings, arrays, objects, allOf, rare, isSensitive }: Schema): boolean {
  return (numbers ?? strings ?? arrays ?? objects ?? allOf ?? rare) !== undefined || isSensitive;
}

export function bothOf(one: Type, other: Schema): Type {
  return { schema: allOfSchemas([one.schema, other]), times: one.times };
}

export function kindsOf({ schema, times }: Type): Kinds {
  return acceptedTypes(schema) | times;
}

/** The cases of a type: one for each combination of its alternatives. Impossible combinations are left out. */
export function casesOf({ schema }: Pick<Type, "schema">): readonly Known[] {
  const before = casesCache.get(schema);
  if (before !== undefined) return before;
  const split = (known: Known): readonly Known[] => {
    if (known.types === noTypes) return [];
    return known.cases?.flatMap(split) ?? [known];
  };
  const cases = split(new Known([schema]));
  casesCache.set(schema, cases);
  return cases;
}

/** Keeps the cases, because the cases of a definition's types are needed many times. */
const casesCache = new WeakMap<Schema, readonly Known[]>();

/**
 * The type that this property has in any map that fits the type. For the same schema and name, the result is always the same object, so that its
 * cases are found only once.
 */
export function propertyOf(type: Type, name: string): Type {
  const known = propertiesCache.get(type.schema) ?? new Map<string, Type>();
  propertiesCache.set(type.schema, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const having = casesOf(type).filter((one) => (one.types & kinds.object) !== 0 && one.mayHave(name));
  const property = eitherOf(having.map((one) => typeOfSchema(allOfSchemas(one.property(name)))));
  known.set(name, property);
  return property;
}

const propertiesCache = new WeakMap<Schema, Map<string, Type>>();

/** The type that every item has in any list that fits the type. */
export function itemsOf(type: Type): Type {
  const known = itemsCache.get(type.schema) ?? findItems(type);
  itemsCache.set(type.schema, known);
  return known;
}

/** The schema of every item of a list that fits the schema. */
export function itemSchemaOf(list: Schema): Schema {
  return toJsonSchema(itemsOf(typeOfSchema(list)));
}

const itemsCache = new WeakMap<Schema, Type>();

function findItems(type: Type): Type {
  const lists = casesOf(type).filter((known) => (known.types & kinds.array) !== 0 && known.itemCountRange.high > 0);
  return eitherOf(
    lists.flatMap((known) => {
      const indexes = Array.from({ length: known.prefixLength + 1 }, (_, index) => index);
      return indexes.map((index) => typeOfSchema(allOfSchemas(known.item(index))));
    }),
  );
}

/** The type that the item at this index has in any list that fits the type. */
export function itemOf(type: Type, index: number): Type {
  const lists = casesOf(type).filter((known) => (known.types & kinds.array) !== 0 && known.itemCountRange.high > index);
  return eitherOf(lists.map((known) => typeOfSchema(allOfSchemas(known.item(index)))));
}

/** The lowest and the highest number of items that a list may have if it fits the type. */
export function itemCountOf(type: Pick<Type, "schema">): { readonly low: number; readonly high: number } {
  const ranges = casesOf(type).flatMap((known) =>
    (known.types & kinds.array) === 0 ? [] : [{ low: known.itemCountRange.low, high: known.itemCountRange.high }],
  );
  if (ranges.length === 0) return { low: 0, high: Number.POSITIVE_INFINITY };
  return { low: Math.min(...ranges.map(({ low }) => low)), high: Math.max(...ranges.map(({ high }) => high)) };
}

/** The possible values; undefined when they are unknown or too many. */
export function valuesOf(type: Type): readonly JsonValue[] | undefined {
  if (type.times !== noTypes) return undefined;
  const before = valuesCache.get(type.schema);
  if (before !== undefined) return before.values;
  const values = casesOf(type).map((known) => known.values);
  const found = { values: values.every((some) => some !== undefined) ? values.flat() : undefined };
  valuesCache.set(type.schema, found);
  return found.values;
}

/** Keeps the values, because finding them means checking each value against its schema. */
const valuesCache = new WeakMap<Schema, { readonly values: readonly JsonValue[] | undefined }>();

/** The cost of reading all possible texts, when they are known, in units of `TypingBudget`. Long texts cost more. */
export function costOfTexts(type: Type, unitsPerText: number): number {
  const texts = (valuesOf(type) ?? []).filter((value) => typeof value === "string");
  return texts.reduce((sum, text) => sum + unitsPerText + text.length / charactersPerUnit, 0);
}

/** One unit pays for this many characters of a text. That is right for patterns, which cost the most because each is read twice. */
const charactersPerUnit = 4;

/** The only possible value; undefined when there may be another one. */
export function onlyValueOf(type: Type): JsonValue | undefined {
  const values = valuesOf(type);
  return values?.length === 1 ? values[0] : undefined;
}

export function isNonEmptyText(type: Type): boolean {
  return casesOf(type).every((known) => known.values?.every((value) => value !== "") ?? known.lengthRange.low > 0);
}

/** The type of `merge(a, b)`. */
export function mergedType(a: Type, b: Type): Type {
  const pairs = casePairsOf(a, b);
  if (pairs.length > maxPairs) return typeOfKinds(kinds.object);
  return eitherOf(pairs.map(([one, other]) => typeOfSchema(mergedObject(one, other))));
}

/** The number of properties on which the type of a merge depends. */
export function costOfMergedType(a: Type, b: Type): number {
  return casePairsOf(a, b).reduce((sum, [one, other]) => sum + one.names.size + other.names.size, 0);
}

function casePairsOf(a: Type, b: Type): (readonly [Known, Known])[] {
  return casesOf(a).flatMap((one) => casesOf(b).map((other) => [one, other] as const));
}

function mergedObject(one: Known, other: Known): Schema {
  const names = new Set([...one.names, ...other.names]);
  const merged = (name: string): Schema => {
    const first = allOfSchemas(one.property(name));
    const second = allOfSchemas(other.property(name));
    if (other.requires(name)) return second;
    return anyOfSchemas([...(one.mayHave(name) ? [first] : []), ...(other.mayHave(name) ? [second] : [])]);
  };
  const properties = new Map([...names].map((name) => [name, merged(name)]));
  const required = [...names].filter((name) => one.requires(name) || other.requires(name));
  const additional = anyOfSchemas([allOfSchemas(one.additional), allOfSchemas(other.additional)]);
  return newSchema({ types: kinds.object, objects: { properties, patterns: undefined, required, additional } });
}

const maxPairs = 16;

/** Whether a value of the type can have one of these kinds. */
export function mayBe(type: Type, set: Kinds): boolean {
  return (kindsOf(type) & set) !== noTypes;
}
