import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import {
  allOfSchemas,
  conjuncts,
  dereferenced,
  newSchema,
  nothing,
  type ObjectRules,
  type RareRules,
  type Schema,
} from "./node.ts";
import { allTypes, noTypes, type TypeSet, typeOf, typeSets } from "./type-set.ts";

/**
 * If the schema is closed, keeps only the declared properties of an object. When nothing has to be dropped, returns the value itself (the same
 * reference).
 */
export function narrowValue(schema: Schema, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const closed = closedRules(schema);
  if (closed.length === 0) return value;
  const names = Object.keys(value);
  const kept = names.filter((name) => closed.every(({ properties }) => properties.has(name)));
  if (kept.length === names.length) return value;
  return Object.fromEntries(kept.map((name) => [name, value[name] as JsonValue])) satisfies JsonObject;
}

/**
 * Whether an object may have only the declared properties. This is so when the schema itself, its `$ref` or one of its `allOf` has
 * `additionalProperties: false`. Alternatives (`anyOf`, `oneOf`, `if`) do not close a schema, even if each of them is closed. A schema that allows
 * names by patterns is not closed either, because such names cannot be listed.
 */
export function isClosed(schema: Schema): boolean {
  return closedRules(schema).length > 0;
}

/**
 * The properties that a closed schema allows, or that an open schema names. As in JSON Schema 2020-12, each `additionalProperties: false` applies
 * only to the `properties` next to it. When several schemas have it, only the properties that all of them declare are allowed.
 */
export function declaredProperties(schema: Schema): ReadonlySet<string> {
  const [first, ...others] = closedRules(schema);
  if (first !== undefined) {
    const names = [...first.properties.keys()];
    return new Set(names.filter((name) => others.every(({ properties }) => properties.has(name))));
  }
  const names = new Set<string>();
  for (const { objects } of conjuncts(schema)) {
    for (const name of objects?.properties.keys() ?? []) names.add(name);
  }
  return names;
}

/** The properties that `required` names, in the schema or its `allOf` and `$ref`. Empty when a value other than an object may fit. */
export function requiredProperties(schema: Schema): ReadonlySet<string> {
  if (acceptedTypes(schema) !== typeSets.object) return new Set();
  return new Set(conjuncts(schema).flatMap(({ objects }) => objects?.required ?? []));
}

/**
 * A schema with only the schemas of the declared properties. It requires no property and forbids none, so that a part of a value can be checked by
 * itself.
 */
export function propertiesAlone(schema: Schema): Schema {
  const known = propertiesAloneCache.get(schema);
  if (known !== undefined) return known;
  const properties = new Map<string, Schema>();
  for (const { objects } of conjuncts(schema)) {
    for (const [name, property] of objects?.properties ?? []) {
      const before = properties.get(name);
      properties.set(name, before === undefined ? property : allOfSchemas([before, property]));
    }
  }
  const isSensitive = conjuncts(schema).some((part) => part.isSensitive);
  const alone = newSchema({
    objects: { properties, required: [], patterns: undefined, additional: undefined },
    isSensitive,
  });
  propertiesAloneCache.set(schema, alone);
  return alone;
}

const propertiesAloneCache = new WeakMap<Schema, Schema>();

/** The types that a fitting value may have. */
export function acceptedTypes(schema: Schema): TypeSet {
  const { types, allowed, allOf, anyOf, rare } = schema;
  // Most schemas give the answer directly. This is faster than a look-up, and keeps tens of thousands of schemas with one value out of the cache.
  if (allOf === undefined && anyOf === undefined && rare === undefined) {
    if (allowed === undefined) return types;
    const [only] = allowed.all;
    if (only !== undefined && allowed.all.length === 1) return types & typeOf(only);
  }
  return acceptedTypesOfParts(schema);
}

function acceptedTypesOfParts(schema: Schema): TypeSet {
  const known = acceptedTypesCache.get(schema);
  if (known !== undefined) return known;
  let types = schema.types;
  if (schema.allowed !== undefined) types &= unionOf(schema.allowed.all, typeOf);
  for (const part of schema.allOf ?? []) types &= acceptedTypes(part);
  if (schema.anyOf !== undefined) types &= unionOf(schema.anyOf, acceptedTypes);
  if (schema.rare !== undefined) types &= typesUnder(schema.rare);
  acceptedTypesCache.set(schema, types);
  return types;
}

function typesUnder({ oneOf, not, conditional }: RareRules): TypeSet {
  let types = allTypes;
  if (oneOf !== undefined) types &= unionOf(oneOf, acceptedTypes);
  if (not !== undefined) types &= ~typesOnly(dereferenced(not));
  if (conditional === undefined) return types;
  const { condition, consequent, alternative } = conditional;
  return types & ((acceptedTypes(condition) & acceptedTypes(consequent)) | acceptedTypes(alternative));
}

/** The types whose values all fit the schema. Empty when the schema has rules other than types. */
function typesOnly({ types, ...rules }: Schema): TypeSet {
  const { isSensitive: _, ...others } = rules;
  return Object.values(others).every((rule) => rule === undefined) ? types : noTypes;
}

/** Alternatives may share alternatives. Without the cache these would be visited again and again, twice as often at each level. */
const acceptedTypesCache = new WeakMap<Schema, TypeSet>();

function unionOf<Item>(items: readonly Item[], typesOf: (item: Item) => TypeSet): TypeSet {
  return items.reduce((types, item) => types | typesOf(item), noTypes);
}

/** The rules that forbid undeclared properties: those of the schema, and those of everything in its `allOf` and `$ref`, recursively. */
function closedRules(schema: Schema): ObjectRules[] {
  return conjuncts(schema).flatMap(({ objects }) => {
    const isClosing = objects?.additional === nothing && objects.patterns === undefined;
    return isClosing ? [objects] : [];
  });
}
