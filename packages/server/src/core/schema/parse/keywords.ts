import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { describeValue, type RawObject } from "../../json/raw-object.ts";
import { pointerTo, quoted } from "../../problem.ts";
import { type Format, formatNames, isFormat } from "../formats/format.ts";
import {
  type AllowedValues,
  type ArrayRules,
  allowOnly,
  type NumberRules,
  type Schema,
  type StringRules,
} from "../node.ts";
import type { Pattern } from "../patterns/pattern.ts";
import type { PatternBook } from "../patterns/pattern-book.ts";
import { allTypes, type TypeSet, typesByName } from "../type-set.ts";

/** Reads a schema that is inside another one. */
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

/** When a schema has both `enum` and `const`, a value must fit both. */
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
    raw.refuse("const", "is not among the values of `enum`, so no value can fit");
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
    `${quoted(name)} is not a format that is checked here; the formats are ${known.join(", ")}${raw.hint(name, known)}`,
  );
  return undefined;
}

export function readArrayRules(raw: RawObject, readSchema: ReadSchema): ArrayRules | undefined {
  const minItems = raw.count("minItems") ?? 0;
  const maxItems = raw.count("maxItems") ?? Number.POSITIVE_INFINITY;
  refuseEmptyRange(raw, "minItems", minItems, "maxItems", maxItems);
  const prefix = readSchemas(raw, "prefixItems", readSchema);
  const items = readItems(raw, readSchema);
  const isFree = minItems === 0 && maxItems === Number.POSITIVE_INFINITY && prefix === undefined && items === undefined;
  return isFree ? undefined : { prefix, items, minItems, maxItems };
}

function readItems(raw: RawObject, readSchema: ReadSchema): Schema | undefined {
  const { items } = raw.fields;
  if (!Array.isArray(items)) return readSchemaAt(raw, "items", readSchema);
  raw.refuse(
    "items",
    "must be a schema, but is an array; a schema for each of the first items belongs in `prefixItems`",
  );
  return undefined;
}

export function readSchemaAt(raw: RawObject, keyword: string, readSchema: ReadSchema): Schema | undefined {
  const value = raw.fields[keyword];
  return value === undefined ? undefined : readSchema(value, raw.pointerTo(keyword));
}

export function readSchemas(raw: RawObject, keyword: string, readSchema: ReadSchema): readonly Schema[] | undefined {
  const schemas = raw.fields[keyword];
  if (schemas === undefined) return undefined;
  if (!Array.isArray(schemas) || schemas.length === 0) {
    raw.refuse(keyword, `must be a list of one schema or more, but is ${describeValue(schemas)}`);
    return undefined;
  }
  const pointer = raw.pointerTo(keyword);
  return schemas.map((schema, index) => readSchema(schema, pointerTo(pointer, index)));
}

export function readNamedSchemas(raw: RawObject, keyword: string, readSchema: ReadSchema): Map<string, Schema> {
  const listed = raw.fields[keyword];
  const schemas = new Map<string, Schema>();
  if (listed === undefined) return schemas;
  if (!isJsonObject(listed)) {
    raw.refuse(keyword, `must be an object of schemas, but is ${describeValue(listed)}`);
    return schemas;
  }
  const pointer = raw.pointerTo(keyword);
  for (const [name, schema] of Object.entries(listed)) schemas.set(name, readSchema(schema, pointerTo(pointer, name)));
  return schemas;
}

export function refuseEmptyRange(raw: RawObject, low: string, lowest: number, high: string, highest: number): void {
  if (lowest > highest) raw.refuse(low, `is more than \`${high}\`, so no value can fit`);
}
