import { canonicalJson, costOfCanonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json.ts";
import type { Format } from "./format.ts";
import type { Pattern } from "./pattern.ts";
import { allTypes, noTypes, type TypeSet } from "./type-set.ts";

/**
 * A schema, parsed. A value fits when its type is in `types`, it satisfies the rules for its type, it is among the `allowed`
 * values, it fits all of `allOf`, and it fits one of `anyOf`. References are resolved to nodes, so the nodes of a
 * recursive schema form a cycle; but a cycle always goes through a property or an item (`parse.ts` refuses others).
 *
 * Immutable once parsed. Nodes are compared by identity: the same name in `definitions` is the same node.
 */
export interface Schema {
  readonly types: TypeSet;
  /** What `enum` and `const` leave. */
  readonly allowed: AllowedValues | undefined;
  readonly numbers: NumberRules | undefined;
  readonly strings: StringRules | undefined;
  readonly arrays: ArrayRules | undefined;
  readonly objects: ObjectRules | undefined;
  /** The target of `$ref`, which applies beside what else the schema says. The keyword `allOf` itself is not in the dialect. */
  readonly allOf: readonly Schema[] | undefined;
  readonly anyOf: readonly Schema[] | undefined;
  /** `x-sensitive`: no message may show anything of a value. */
  readonly isSensitive: boolean;
}

export interface AllowedValues {
  readonly all: readonly JsonValue[];
  /** Those that can be found by a look-up. */
  readonly scalars: ReadonlySet<JsonValue>;
  /** Arrays and objects, in the form in which equal ones are the same text. */
  readonly compounds: ReadonlySet<string>;
  /** The cost of the form that costs most: a value that costs more equals none of them. */
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
  readonly items: Schema | undefined;
  readonly minItems: number;
  readonly maxItems: number;
}

export interface ObjectRules {
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** What properties must fit that `properties` does not declare: `nothing` when they are forbidden, undefined when they are free. */
  readonly additional: Schema | undefined;
}

/** A schema under construction. */
export type SchemaDraft = { -readonly [Field in keyof Schema]: Schema[Field] };

export function newSchema(fields: Partial<Schema> = {}): SchemaDraft {
  return { ...blank, ...fields };
}

export function allowOnly(values: readonly JsonValue[]): AllowedValues {
  const compounds = values.filter(isCompound);
  return {
    all: values,
    scalars: new Set(values.filter((value) => !isCompound(value))),
    compounds: new Set(compounds.map(canonicalJson)),
    maxCompoundCost: compounds.reduce<number>((max, value) => Math.max(max, costOfCanonicalJson(value, Infinity)), 0),
  };
}

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
  isSensitive: false,
};

/** `true` and `{}`: every value fits. */
export const anything: Schema = newSchema();
/** `false`: no value fits. */
export const nothing: Schema = newSchema({ types: noTypes });

/** The schema itself and, through and through, all of `allOf`: a value fits when it fits each of these by what they say themselves. */
export function conjuncts(schema: Schema): Schema[] {
  return schema.allOf === undefined ? [schema] : [schema, ...schema.allOf.flatMap(conjuncts)];
}

/** What a schema stands for that says nothing itself but `$ref`. Compared as its target, it is recognized wherever it stands. */
export function dereferenced(schema: Schema): Schema {
  let node = schema;
  for (let target = targetOf(node); target !== undefined; target = targetOf(node)) node = target;
  return node;
}

function targetOf(schema: Schema): Schema | undefined {
  const { types, allowed, numbers, strings, arrays, objects, allOf, anyOf } = schema;
  const rules = allowed ?? numbers ?? strings ?? arrays ?? objects ?? anyOf;
  return types === allTypes && rules === undefined && allOf?.length === 1 ? allOf[0] : undefined;
}

/** A value fits when it fits all. */
export function allOfSchemas(schemas: readonly Schema[]): Schema {
  const [only = anything] = schemas;
  return schemas.length < 2 ? only : newSchema({ allOf: schemas });
}

/** A value fits when it fits one at least. */
export function anyOfSchemas(schemas: readonly Schema[]): Schema {
  const different = [...new Set(schemas)];
  const [only = nothing] = different;
  return different.length < 2 ? only : newSchema({ anyOf: different });
}

/** An object with these properties and no others. */
export function closedObject(
  properties: ReadonlyMap<string, Schema>,
  required: readonly string[],
  types: TypeSet,
): Schema {
  return newSchema({ types, objects: { properties, required, additional: nothing } });
}
