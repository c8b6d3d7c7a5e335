import { isJsonObject, type JsonValue } from "../json/json.ts";
import { describeValue, type RawObject } from "../json/raw-object.ts";
import { pointerTo, quoted } from "../problem.ts";
import { type Format, formatNames, isFormat } from "./format.ts";
import {
  type AllowedValues,
  type ArrayRules,
  allowOnly,
  type NumberRules,
  nothing,
  type ObjectRules,
  type Schema,
  type StringRules,
} from "./node.ts";
import type { Pattern } from "./pattern.ts";
import type { PatternBook } from "./pattern-book.ts";
import { allTypes, type TypeSet, typesByName } from "./type-set.ts";

/** Reads a schema that stands in another one. */
export type ReadSchema = (raw: JsonValue, pointer: string) => Schema;

export function readTypes(raw: RawObject): TypeSet {
  const type = raw.fields.type;
  if (type === undefined) return allTypes;
  const names = Array.isArray(type) ? type : [type];
  const isWrong = names.length === 0 || new Set(names).size < names.length;
  if (isWrong) raw.refuse("type", "must name a type, or list different types");
  return names.reduce((types: TypeSet, name) => types | readType(raw, name), 0);
}

function readType(raw: RawObject, name: JsonValue): TypeSet {
  const types = typeof name === "string" ? typesByName.get(name) : undefined;
  if (types !== undefined) return types;
  const known = [...typesByName.keys()];
  const found = typeof name === "string" ? quoted(name) : describeValue(name);
  const hint = typeof name === "string" ? raw.hint(name, known) : "";
  raw.refuse("type", `${found} is not a type; the types are ${known.join(", ")}${hint}`);
  return allTypes;
}

/** With both `enum` and `const` a value must satisfy both. */
export function readAllowedValues(raw: RawObject): AllowedValues | undefined {
  const listed = raw.fields.enum;
  const constant = raw.fields.const;
  if (listed !== undefined && (!Array.isArray(listed) || listed.length === 0)) {
    raw.refuse("enum", `must be a list of one value or more, but is ${describeValue(listed)}`);
    return undefined;
  }
  if (constant === undefined) return listed === undefined ? undefined : allowOnly(listed);
  const only = allowOnly([constant]);
  if (listed !== undefined && !haveCommon(allowOnly(listed), only))
    raw.refuse("const", "is not among the values of `enum`, so that no value can fit");
  return only;
}

function haveCommon(one: AllowedValues, other: AllowedValues): boolean {
  return !one.scalars.isDisjointFrom(other.scalars) || !one.compounds.isDisjointFrom(other.compounds);
}

export function readNumberRules(raw: RawObject): NumberRules | undefined {
  const rules = {
    minimum: raw.number("minimum") ?? Number.NEGATIVE_INFINITY,
    maximum: raw.number("maximum") ?? Number.POSITIVE_INFINITY,
    exclusiveMinimum: raw.number("exclusiveMinimum") ?? Number.NEGATIVE_INFINITY,
    exclusiveMaximum: raw.number("exclusiveMaximum") ?? Number.POSITIVE_INFINITY,
  };
  refuseEmptyRange(raw, "minimum", rules.minimum, "maximum", rules.maximum);
  if (rules.exclusiveMinimum >= Math.min(rules.maximum, rules.exclusiveMaximum)) {
    raw.refuse("exclusiveMinimum", "leaves no number below the maximum");
  } else if (rules.exclusiveMaximum <= rules.minimum) {
    raw.refuse("exclusiveMaximum", "leaves no number above `minimum`");
  }
  return Object.values(rules).some(Number.isFinite) ? rules : undefined;
}

export function readStringRules(raw: RawObject, patterns: PatternBook): StringRules | undefined {
  const minLength = raw.count("minLength") ?? 0;
  const maxLength = raw.count("maxLength") ?? Number.POSITIVE_INFINITY;
  const pattern = readPattern(raw, patterns);
  const format = readFormat(raw);
  refuseEmptyRange(raw, "minLength", minLength, "maxLength", maxLength);
  const isFree =
    minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined && format === undefined;
  return isFree ? undefined : { minLength, maxLength, pattern, format };
}

function readPattern(raw: RawObject, patterns: PatternBook): Pattern | undefined {
  const source = raw.text("pattern");
  if (source === undefined) return undefined;
  const pattern = patterns.read(source);
  if (!("problem" in pattern)) return pattern;
  raw.refuse("pattern", pattern.problem);
  return undefined;
}

function readFormat(raw: RawObject): Format | undefined {
  const name = raw.text("format");
  if (name === undefined || isFormat(name)) return name;
  const known = formatNames();
  raw.refuse(
    "format",
    `${quoted(name)} is not a format that is checked here; those are ${known.join(", ")}${raw.hint(name, known)}`,
  );
  return undefined;
}

export function readArrayRules(raw: RawObject, readSchema: ReadSchema): ArrayRules | undefined {
  const minItems = raw.count("minItems") ?? 0;
  const maxItems = raw.count("maxItems") ?? Number.POSITIVE_INFINITY;
  refuseEmptyRange(raw, "minItems", minItems, "maxItems", maxItems);
  const items = raw.fields.items;
  const itemSchema = items === undefined ? undefined : readSchema(items, raw.pointerTo("items"));
  const isFree = minItems === 0 && maxItems === Number.POSITIVE_INFINITY && itemSchema === undefined;
  return isFree ? undefined : { items: itemSchema, minItems, maxItems };
}

export function readObjectRules(raw: RawObject, readSchema: ReadSchema): ObjectRules | undefined {
  const properties = readProperties(raw, readSchema);
  const required = raw.names("required") ?? [];
  const additional = raw.fields.additionalProperties;
  const rest = additional === undefined ? undefined : readSchema(additional, raw.pointerTo("additionalProperties"));
  if (rest === nothing) refuseImpossibleNames(raw, required, properties);
  const isFree = properties.size === 0 && required.length === 0 && rest === undefined;
  return isFree ? undefined : { properties, required, additional: rest };
}

function readProperties(raw: RawObject, readSchema: ReadSchema): ReadonlyMap<string, Schema> {
  const listed = raw.fields.properties;
  const properties = new Map<string, Schema>();
  if (listed === undefined) return properties;
  if (!isJsonObject(listed)) {
    raw.refuse("properties", `must be an object of schemas, but is ${describeValue(listed)}`);
    return properties;
  }
  const pointer = raw.pointerTo("properties");
  for (const [name, schema] of Object.entries(listed))
    properties.set(name, readSchema(schema, pointerTo(pointer, name)));
  return properties;
}

function refuseImpossibleNames(
  raw: RawObject,
  required: readonly string[],
  properties: ReadonlyMap<string, Schema>,
): void {
  const pointer = raw.pointerTo("required");
  for (const [index, name] of required.entries()) {
    if (properties.has(name)) continue;
    const hint = raw.hint(name, properties.keys());
    raw.refuseAt(
      pointerTo(pointer, index),
      `${quoted(name)} is required, but is not in \`properties\`, and no others are allowed${hint}`,
    );
  }
}

export function readAlternatives(raw: RawObject, readSchema: ReadSchema): readonly Schema[] | undefined {
  const alternatives = raw.fields.anyOf;
  if (alternatives === undefined) return undefined;
  if (!Array.isArray(alternatives) || alternatives.length === 0) {
    raw.refuse("anyOf", `must be a list of one schema or more, but is ${describeValue(alternatives)}`);
    return undefined;
  }
  const pointer = raw.pointerTo("anyOf");
  return alternatives.map((alternative, index) => readSchema(alternative, pointerTo(pointer, index)));
}

/** Checks the keywords that say something to people and nothing about a value. */
export function checkAnnotations(raw: RawObject): void {
  raw.text("title");
  raw.text("description");
}

function refuseEmptyRange(raw: RawObject, low: string, lowest: number, high: string, highest: number): void {
  if (lowest > highest) raw.refuse(low, `is more than \`${high}\`, so that no value can fit`);
}
