import type { RawObject } from "../../json/raw-object.ts";
import { quoted } from "../../problem.ts";

/** Keywords that inform people and do not restrict values. */
export const annotations = [
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "$schema",
  "$id",
] as const;

/** The other keywords of the dialect. */
export const assertions = [
  "type",
  "enum",
  "const",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "uniqueItems",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "$ref",
  "$defs",
  "x-sensitive",
] as const;

/** Refuses every keyword outside the dialect. If a keyword were ignored, users would think that it is checked. */
export function refuseUnknownKeywords(raw: RawObject, isListWanted: boolean): boolean {
  const present = Object.keys(raw.fields);
  if (present.every((keyword) => keywords.has(keyword))) return false;
  const unknown = present.filter((keyword) => !keywords.has(keyword));
  for (const [index, keyword] of unknown.entries()) {
    const list = isListWanted && index === 0 ? ` (${allKeywords.join(", ")})` : "";
    const instead = replacements.get(keyword);
    const hint = instead === undefined ? raw.hint(keyword, keywords) : `; ${instead}`;
    raw.refuse(keyword, `${quoted(keyword)} is not a keyword that schemas may use here${list}${hint}`);
  }
  return true;
}

const allKeywords: readonly string[] = [...assertions, ...annotations];
const keywords: ReadonlySet<string> = new Set(allKeywords);

/** Some keywords that are not in the dialect, with advice on what to write instead. */
const replacements: ReadonlyMap<string, string> = new Map([
  ["definitions", "the schemas inside a schema of `definitions` belong in `$defs`"],
  ["dependencies", "required properties belong in `dependentRequired`"],
  ["dependentSchemas", "use `if` and `then` instead"],
  ["additionalItems", "use `items` beside `prefixItems` instead"],
  ["nullable", 'add "null" to `type`'],
  [
    "unevaluatedProperties",
    "use `additionalProperties` instead; it considers only the `properties` and `patternProperties` beside it",
  ],
  ["unevaluatedItems", "use `items` instead; it considers only the `prefixItems` beside it"],
  ["$anchor", "refer to `#/$defs/<name>`"],
  ["$dynamicRef", "use `$ref` with `#/$defs/<name>` instead"],
  ["$recursiveRef", "use `$ref` with `#` instead"],
]);

/** Checks the form of the keywords that do not restrict values. Most schemas have none of them. */
export function checkAnnotations(raw: RawObject): void {
  if (!Object.keys(raw.fields).some((keyword) => annotationNames.has(keyword))) return;
  for (const field of texts) raw.text(field);
  for (const field of flags) raw.boolean(field);
  raw.list("examples", "a list of values");
}

const annotationNames: ReadonlySet<string> = new Set(annotations);
const texts = ["title", "description", "$comment", "$schema", "$id"] as const;
const flags = ["deprecated", "readOnly", "writeOnly"] as const;
