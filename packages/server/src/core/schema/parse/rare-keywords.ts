import type { RawObject } from "../../json/raw-object.ts";
import { anything, type Conditional, type RareRules } from "../node.ts";
import { noRareRules } from "../rare-rules.ts";
import { type ReadSchema, readSchemaAt, readSchemas, refuseEmptyRange } from "./keywords.ts";

export function readRareRules(raw: RawObject, readSchema: ReadSchema): RareRules | undefined {
  if (!Object.keys(raw.fields).some((keyword) => rareKeywords.has(keyword))) return undefined;
  const rules: RareRules = {
    oneOf: readSchemas(raw, "oneOf", readSchema),
    not: readSchemaAt(raw, "not", readSchema),
    conditional: readConditional(raw, readSchema),
    multipleOf: raw.numberWhere("multipleOf", (value) => value > 0, "a number above 0"),
    uniqueItems: raw.boolean("uniqueItems") ?? noRareRules.uniqueItems,
    minProperties: raw.count("minProperties") ?? noRareRules.minProperties,
    maxProperties: raw.count("maxProperties") ?? noRareRules.maxProperties,
    propertyNames: readSchemaAt(raw, "propertyNames", readSchema),
    dependentRequired: readDependentRequired(raw),
  };
  refuseEmptyRange(raw, "minProperties", rules.minProperties, "maxProperties", rules.maxProperties);
  return rules;
}

const rareKeywords: ReadonlySet<string> = new Set([
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "multipleOf",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "dependentRequired",
]);

/**
 * As in the standard, `then` and `else` have no effect without `if`, and `if` has no effect without them. Keywords without effect are read too, so
 * that problems in them are reported.
 */
function readConditional(raw: RawObject, readSchema: ReadSchema): Conditional | undefined {
  const condition = readSchemaAt(raw, "if", readSchema);
  const consequent = readSchemaAt(raw, "then", readSchema);
  const alternative = readSchemaAt(raw, "else", readSchema);
  if (condition === undefined || (consequent === undefined && alternative === undefined)) return undefined;
  return { condition, consequent: consequent ?? anything, alternative: alternative ?? anything };
}

function readDependentRequired(raw: RawObject): ReadonlyMap<string, readonly string[]> | undefined {
  const listed = raw.object("dependentRequired");
  if (listed === undefined) return undefined;
  const required = new Map<string, readonly string[]>();
  for (const name of Object.keys(listed.fields)) {
    const names = listed.names(name) ?? [];
    if (names.length > 0) required.set(name, names);
  }
  return required.size === 0 ? undefined : required;
}
