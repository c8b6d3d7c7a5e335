import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { allOfSchemas, conjuncts, newSchema, nothing, type ObjectRules, type Schema } from "./node.ts";
import { noTypes, type TypeSet, typeOf, typeSets } from "./type-set.ts";

/**
 * Keeps of an object only the properties that the schema declares, if it is closed. Anything else comes back as it is, the same
 * reference, also when there was nothing to drop.
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
 * Whether an object may have none but the declared properties: `additionalProperties: false` in the schema itself or in what
 * it refers to. Alternatives (`anyOf`) close nothing, even if each of them is closed.
 */
export function isClosed(schema: Schema): boolean {
  return closedRules(schema).length > 0;
}

/**
 * The properties that a closed schema lets through, or that an open one names. As in JSON Schema 2020-12 each
 * `additionalProperties: false` looks only at the `properties` beside it: with two of them, just what both declare gets through.
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

/** The properties that every value which fits certainly has; none when something else than an object may fit. */
export function requiredProperties(schema: Schema): ReadonlySet<string> {
  if (acceptedTypes(schema) !== typeSets.object) return new Set();
  return new Set(conjuncts(schema).flatMap(({ objects }) => objects?.required ?? []));
}

/** The schema of each property that is declared, with nothing required and nothing forbidden: what one part of a value can be held against. */
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
  const alone = newSchema({ objects: { properties, required: [], additional: undefined }, isSensitive });
  propertiesAloneCache.set(schema, alone);
  return alone;
}

const propertiesAloneCache = new WeakMap<Schema, Schema>();

/** The same schema for an object that may lack these properties, whatever requires them: the schema, its references or its alternatives. */
export function withoutRequired(schema: Schema, names: ReadonlySet<string>): Schema {
  if (names.size === 0) return schema;
  // A few alternatives of a few alternatives lead to one definition in a million ways.
  const made = new Map<Schema, Schema>();
  const without = (part: Schema): Schema => {
    const { objects, allOf, anyOf } = part;
    const known = made.get(part);
    if (known !== undefined) return known;
    const result = newSchema({
      ...part,
      objects: objects && { ...objects, required: objects.required.filter((name) => !names.has(name)) },
      allOf: allOf?.map(without),
      anyOf: anyOf?.map(without),
    });
    made.set(part, result);
    return result;
  };
  return without(schema);
}

/** The types that a value must have one of. */
export function acceptedTypes(schema: Schema): TypeSet {
  const known = acceptedTypesCache.get(schema);
  if (known !== undefined) return known;
  let types = schema.types;
  if (schema.allowed !== undefined) types &= unionOf(schema.allowed.all, typeOf);
  for (const part of schema.allOf ?? []) types &= acceptedTypes(part);
  if (schema.anyOf !== undefined) types &= unionOf(schema.anyOf, acceptedTypes);
  acceptedTypesCache.set(schema, types);
  return types;
}

/** Alternatives that share alternatives would otherwise be walked again and again, at every level twice as often. */
const acceptedTypesCache = new WeakMap<Schema, TypeSet>();

function unionOf<Item>(items: readonly Item[], typesOf: (item: Item) => TypeSet): TypeSet {
  return items.reduce((types, item) => types | typesOf(item), noTypes);
}

/** The rules, through all references, that forbid undeclared properties. */
function closedRules(schema: Schema): ObjectRules[] {
  return conjuncts(schema).flatMap(({ objects }) => (objects?.additional === nothing ? [objects] : []));
}
