import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { checkValue, parseSchema } from "../../../src/core/schema/schema.ts";

/*
 * The official test suite of JSON Schema, reduced to the keywords of the dialect and a few that are rejected. The files are its release 2.0.0, which
 * is for draft 7. For the keywords of the dialect, draft 7 agrees with 2020-12 except in one test (`otherInDraft7`). Some keywords have new names in
 * 2020-12: `inPresentWords` replaces the old names.
 */

interface Group {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}

const suite = new URL("json-schema-suite/", import.meta.url);
const files = ["", "format/"].flatMap((folder) =>
  readdirSync(new URL(folder, suite))
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({
      name: folder + name,
      groups: JSON.parse(readFileSync(new URL(folder + name, suite), "utf8")) as Group[],
    })),
);

/** Groups whose schema is rejected, each with a part of the message. */
const refused: ReadonlyMap<string, string> = new Map([
  ["contains.json: contains keyword validation", "`contains` is not a keyword"],
  ["contains.json: contains keyword with const keyword", "`contains` is not a keyword"],
  ["contains.json: contains keyword with boolean schema true", "`contains` is not a keyword"],
  ["contains.json: contains keyword with boolean schema false", "`contains` is not a keyword"],
  ["dependencies.json: multiple dependencies subschema", "`dependencies` is not a keyword"],
  ["dependencies.json: dependencies with boolean subschemas", "`dependencies` is not a keyword"],
  // The service fetches no schemas, and an `$id` inside a schema changes no reference.
  ["definitions.json: valid definition", "leads nowhere"],
  ["definitions.json: invalid definition", "leads nowhere"],
  ["ref.json: remote ref, containing refs itself", "leads nowhere"],
  ["ref.json: Recursive references between schemas", "leads nowhere"],
  // A reference can lead only to a definition or to the whole schema, not to any other place of a schema.
  ["ref.json: relative pointer ref to object", "leads nowhere"],
  ["ref.json: relative pointer ref to array", "leads nowhere"],
  // The definitions of this group are members of the schema itself, so their names count as keywords.
  ["ref.json: escaped pointer ref", "`tilda~field` is not a keyword"],
]);

/** Draft 7 ignores the keywords beside a `$ref`; 2020-12 does not. */
const otherInDraft7 = "ref.json: ref overrides any sibling keywords: ref valid, maxItems ignored";

describe.each(files)("$name", ({ name, groups }) => {
  test.each(groups.map((group) => [group.description, group] as const))("%s", (description, { schema, tests }) => {
    const id = `${name}: ${description}`;
    const parsed = parseSchema(inPresentWords(schema));
    const refusal = refused.get(id);
    if (refusal !== undefined) {
      expect("problems" in parsed && parsed.problems[0]?.detail).toContain(refusal);
      return;
    }
    if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
    for (const { description, data, valid } of tests) {
      const isFit = checkValue(parsed.schema, data).length === 0;
      expect(isFit, description).toBe(`${id}: ${description}` === otherInDraft7 ? !valid : valid);
    }
  });
});

test("every group that is listed as rejected exists in the suite", () => {
  const ids = new Set(files.flatMap(({ name, groups }) => groups.map(({ description }) => `${name}: ${description}`)));
  expect([...refused.keys()].filter((id) => !ids.has(id))).toEqual([]);
});

function inPresentWords(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(inPresentWords);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => presentWords(schema, key, value)));
}

function presentWords(schema: JsonObject, key: string, value: JsonValue): [string, JsonValue][] {
  switch (key) {
    case "items":
      return [[Array.isArray(value) ? "prefixItems" : "items", inPresentWords(value)]];
    case "additionalItems":
      // `additionalItems` has no effect if one schema applies to all items.
      return Array.isArray(schema.items) ? [["items", inPresentWords(value)]] : [];
    case "definitions":
      return [["$defs", inPresentWords(value)]];
    case "dependencies": {
      const isOfNames = isJsonObject(value) && Object.values(value).every(Array.isArray);
      return [[isOfNames ? "dependentRequired" : key, value]];
    }
    case "$ref":
      return [[key, typeof value === "string" ? value.replace("#/definitions/", "#/$defs/") : inPresentWords(value)]];
    case "const":
    case "enum":
    case "required":
      return [[key, value]];
    default:
      return [[key, inPresentWords(value)]];
  }
}
