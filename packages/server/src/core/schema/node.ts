import { canonicalJson, costOfCanonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json.ts";
import type { Format } from "./formats/format.ts";
import type { Pattern } from "./patterns/pattern.ts";
import { allTypes, noTypes, type TypeSet } from "./type-set.ts";

/**
 * A schema, parsed. A value fits when its type is in `types`, it satisfies the rules for its type, it is among the `allowed` values, it fits all of
 * `allOf`, it fits one of `anyOf`, and it satisfies the rare rules. References are resolved to nodes, so the nodes of a recursive schema form a
 * cycle. A cycle always goes through an item, a property or the name of a property, because `chain.ts` refuses any other.
 *
 * A schema does not change after it was parsed. Nodes are compared by identity. The same name in `definitions` is always the same node.
 */
export interface Schema {
  readonly types: TypeSet;
  /** The values that `enum` and `const` allow. */
  readonly allowed: AllowedValues | undefined;
  readonly numbers: NumberRules | undefined;
  readonly strings: StringRules | undefined;
  readonly arrays: ArrayRules | undefined;
  readonly objects: ObjectRules | undefined;
  /** The schemas of `allOf`, and the target of `$ref`. They apply in addition to the other keywords of the schema. */
  readonly allOf: readonly Schema[] | undefined;
  readonly anyOf: readonly Schema[] | undefined;
  readonly rare: RareRules | undefined;
  /** The keyword `x-sensitive`: a message about a value may show its type, but neither the value nor the allowed values. */
  readonly isSensitive: boolean;
}

export interface AllowedValues {
  readonly all: readonly JsonValue[];
  /** The allowed values that are neither arrays nor objects. */
  readonly scalars: ReadonlySet<JsonValue>;
  /** The allowed arrays and objects, as canonical texts, which are the same for equal values. */
  readonly compounds: ReadonlySet<string>;
  /** The highest cost of the texts in `compounds`. A value with a higher cost equals none of them. */
  readonly maxCompoundCost: number;
}

export interface NumberRules {
  readonly minimum: number;
  readonly maximum: number;
  readonly exclusiveMinimum: number;
  readonly exclusiveMaximum: number;
}

/** Lengths count Unicode code points. */
export interface StringRules {
  readonly minLength: number;
  readonly maxLength: number;
  readonly pattern: Pattern | undefined;
  readonly format: Format | undefined;
}

export interface ArrayRules {
  /** `prefixItems`: the schemas that the first items must fit, one schema for each item. */
  readonly prefix: readonly Schema[] | undefined;
  /** The schema of the items after the prefix. */
  readonly items: Schema | undefined;
  readonly minItems: number;
  readonly maxItems: number;
}

export interface ObjectRules {
  /**
   * The schemas of the declared properties. When the name of a property matches a pattern, the property's schema already includes the pattern's
   * schema (`object-keywords.ts`).
   */
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** `patternProperties`: the schemas of undeclared properties whose names match a pattern. */
  readonly patterns: readonly PatternRule[] | undefined;
  /** The schema of the other properties: `nothing` when they are forbidden, undefined when they are unrestricted. */
  readonly additional: Schema | undefined;
}

export interface PatternRule {
  readonly pattern: Pattern;
  readonly schema: Schema;
}

/** The keywords that few schemas have. They are separate, so that one field tells a check that a schema has none of them. */
export interface RareRules {
  /** A value must fit exactly one of these schemas. */
  readonly oneOf: readonly Schema[] | undefined;
  /** A value must not fit this schema. */
  readonly not: Schema | undefined;
  readonly conditional: Conditional | undefined;
  readonly multipleOf: number | undefined;
  readonly uniqueItems: boolean;
  readonly minProperties: number;
  readonly maxProperties: number;
  /** The schema that the name of each property must fit. A name counts as a string. */
  readonly propertyNames: Schema | undefined;
  /** For each property, by its name: the properties that must be there when it is there. */
  readonly dependentRequired: ReadonlyMap<string, readonly string[]> | undefined;
}

/** `if`, `then` and `else`: a value that fits `condition` must fit `consequent`. Any other value must fit `alternative`. */
export interface Conditional {
  readonly condition: Schema;
  readonly consequent: Schema;
  readonly alternative: Schema;
}

/** A schema under construction. */
export type SchemaDraft = { -readonly [Field in keyof Schema]: Schema[Field] };

export function newSchema(fields: Partial<Schema> = {}): SchemaDraft {
  return { ...blank, ...fields };
}

export function allowOnly(values: readonly JsonValue[]): AllowedValues {
  const compounds = values.filter(isCompound);
  if (compounds.length === 0) return { all: values, scalars: new Set(values), compounds: noTexts, maxCompoundCost: 0 };
  return {
    all: values,
    scalars: new Set(values.filter((value) => !isCompound(value))),
    compounds: new Set(compounds.map(canonicalJson)),
    maxCompoundCost: compounds.reduce<number>((max, value) => Math.max(max, costOfCanonicalJson(value, Infinity)), 0),
  };
}

const noTexts: ReadonlySet<string> = new Set();

function isCompound(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

const blank: Schema = {
  types: allTypes,
  allowed: undefined,
  numbers: undefined,
  strings: undefined,
  arrays: undefined,
  objects: undefined,
  allOf: undefined,
  anyOf: undefined,
  rare: undefined,
  isSensitive: false,
};

/** `true` and `{}`: every value fits. */
export const anything: Schema = newSchema();
/** `false`: no value fits. */
export const nothing: Schema = newSchema({ types: noTypes });

/** The schema itself and everything in its `allOf`, recursively. A value fits when it fits each of these, taken without its `allOf`. */
export function conjuncts(schema: Schema): readonly Schema[] {
  if (schema.allOf === undefined) return [schema];
  const found = new Set([schema]);
  // The loop also visits schemas that it adds to the set. A set is needed, because nested lists may lead to one schema in a million ways.
  for (const { allOf } of found) {
    for (const part of allOf ?? []) found.add(part);
  }
  return [...found];
}

/**
 * Returns the target of a schema that consists only of a `$ref` (or of an `allOf` with one schema), and any other schema as it is. Two references to
 * one schema have the same target, so that a comparison recognizes them as equal.
 */
export function dereferenced(schema: Schema): Schema {
  let node = schema;
  for (let target = targetOf(node); target !== undefined; target = targetOf(node)) node = target;
  return node;
}

function targetOf(schema: Schema): Schema | undefined {
  const { types, allowed, numbers, strings, arrays, objects, allOf, anyOf, rare } = schema;
  const rules = allowed ?? numbers ?? strings ?? arrays ?? objects ?? anyOf ?? rare;
  return types === allTypes && rules === undefined && allOf?.length === 1 ? allOf[0] : undefined;
}

export function allOfSchemas(schemas: readonly Schema[]): Schema {
  const [only = anything] = schemas;
  return schemas.length < 2 ? only : newSchema({ allOf: schemas });
}

export function anyOfSchemas(schemas: readonly Schema[]): Schema {
  const different = [...new Set(schemas)];
  const [only = nothing] = different;
  return different.length < 2 ? only : newSchema({ anyOf: different });
}

export function closedObject(
  properties: ReadonlyMap<string, Schema>,
  required: readonly string[],
  types: TypeSet,
): Schema {
  return newSchema({ types, objects: { properties, required, patterns: undefined, additional: nothing } });
}
