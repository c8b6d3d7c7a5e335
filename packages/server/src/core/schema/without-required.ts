import { isJsonObject, type JsonValue } from "../json/json.ts";
import { allOfSchemas, anyOfSchemas, newSchema, type RareRules, type Schema, type SchemaDraft } from "./node.ts";
import { noRareRules } from "./rare-rules.ts";

/**
 * Returns a schema for an object that may lack these properties, even if the given schema, its references or its alternatives require
 * them. The returned schema accepts every object that fits the given one after some of the properties are added, and may accept more.
 */
export function withoutRequired(schema: Schema, names: ReadonlySet<string>): Schema {
  if (names.size === 0) return schema;
  // If alternatives contain alternatives on many levels, they may lead to the same definition in a million ways. So each result is kept.
  const made = new Map<Schema, Schema>();
  const without = (part: Schema): Schema => {
    const known = made.get(part);
    if (known !== undefined) return known;
    const { allowed, objects, allOf, anyOf, rare } = part;
    const result: SchemaDraft = newSchema({
      ...part,
      // An object that lacks a property equals no allowed object that has the property, so the rule is dropped.
      allowed: allowed?.all.some((value) => hasAny(value, names)) ? undefined : allowed,
      objects: objects && { ...objects, required: objects.required.filter((name) => !names.has(name)) },
      allOf: allOf?.map(without),
      anyOf: anyOf?.map(without),
      rare: rare && withoutRareRequirements(rare, names),
    });
    const loosened = rare === undefined ? [] : alternativesOf(rare, without);
    if (loosened.length > 0) result.allOf = [...(result.allOf ?? []), ...loosened];
    made.set(part, result);
    return result;
  };
  return without(schema);
}

function hasAny(value: JsonValue, names: ReadonlySet<string>): boolean {
  return isJsonObject(value) && Object.keys(value).some((name) => names.has(name));
}

/**
 * Loosens the rules that require a number of properties, or properties with certain names. Drops `oneOf`, `not` and `if`: a value may meet or break
 * them only because a property is missing. Keeps all other rules.
 */
function withoutRareRequirements(rules: RareRules, names: ReadonlySet<string>): RareRules {
  const { multipleOf, uniqueItems, minProperties, maxProperties, propertyNames, dependentRequired } = rules;
  return {
    ...noRareRules,
    multipleOf,
    uniqueItems,
    minProperties: Math.max(0, minProperties - names.size),
    maxProperties,
    propertyNames,
    dependentRequired:
      dependentRequired &&
      new Map([...dependentRequired].map(([name, required]) => [name, required.filter((one) => !names.has(one))])),
  };
}

/**
 * Returns the alternatives for a value with fewer properties. Such a value may fit several schemas of `oneOf`, and the other branch of `if`.
 */
function alternativesOf({ oneOf, conditional }: RareRules, without: (part: Schema) => Schema): Schema[] {
  const alternatives = oneOf === undefined ? [] : [anyOfSchemas(oneOf.map(without))];
  if (conditional === undefined) return alternatives;
  const { condition, consequent, alternative } = conditional;
  return [...alternatives, anyOfSchemas([allOfSchemas([condition, consequent].map(without)), without(alternative)])];
}
