import { type Schema as SchemaDocument, Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { annotations, assertions } from "../../../src/core/schema/parse/vocabulary.ts";
import { checkValue, parseSchema } from "../../../src/core/schema/schema.ts";
import { schemaOf } from "./schema-arbitraries.ts";
import { casesByKeyword } from "./schema-cases.ts";

describe.each(Object.entries(casesByKeyword))("%s", (_, cases) => {
  test.each(cases.map((one) => [one.fact, one] as const))("%s", (_fact, { schema, fit, misfit }) => {
    const parsed = schemaOf(schema);
    for (const value of fit) expect(checkValue(parsed, value), JSON.stringify(value)).toEqual([]);
    for (const value of misfit) expect(checkValue(parsed, value), JSON.stringify(value)).not.toEqual([]);
  });
});

test("the cases agree with an independent implementation of the standard", () => {
  for (const { fact, schema, fit, misfit } of Object.values(casesByKeyword).flat()) {
    const reference = new Validator(schema as SchemaDocument | boolean, "2020-12");
    for (const value of [...fit, ...misfit]) {
      const subject = `${fact}: ${JSON.stringify(schema)} and ${JSON.stringify(value)}`;
      expect(reference.validate(value).valid, subject).toBe(fit.includes(value));
    }
  }
});

test("every keyword that is checked has cases", () => {
  expect(assertions.filter((keyword) => !(keyword in casesByKeyword))).toEqual([]);
});

test.each(annotations)("%s does not affect whether a value fits", (keyword) => {
  const isFlag = ["deprecated", "readOnly", "writeOnly"].includes(keyword);
  const schema = schemaOf({ [keyword]: isFlag ? true : keyword === "examples" ? ["never"] : "never" });
  for (const value of [null, 1, "a", [], {}]) expect(checkValue(schema, value)).toEqual([]);
});

/** The keywords of draft 2020-12 that the dialect does not have, each with a value. */
const refused: readonly (readonly [string, JsonValue])[] = [
  ["contains", {}],
  ["minContains", 1],
  ["maxContains", 1],
  ["dependentSchemas", {}],
  ["unevaluatedItems", false],
  ["unevaluatedProperties", false],
  ["contentEncoding", "base64"],
  ["contentMediaType", "application/json"],
  ["contentSchema", {}],
  ["$anchor", "a"],
  ["$dynamicRef", "#a"],
  ["$dynamicAnchor", "a"],
  ["$vocabulary", {}],
];

test.each(refused)("%s is rejected by name in every place", (keyword, value) => {
  for (const schema of [
    { [keyword]: value },
    { properties: { a: { [keyword]: value } } },
    { $defs: { a: { [keyword]: value } } },
  ]) {
    expect(parseSchema(schema)).toMatchObject({
      problems: [{ detail: expect.stringContaining(`\`${keyword}\` is not a keyword that schemas may use here`) }],
    });
  }
});

describe("intended differences from the standard", () => {
  test("a pattern is RE2: look-ahead and back-references are rejected, since matching them has no bound", () => {
    expect(parseSchema({ pattern: "^(?!a)" })).toHaveProperty("problems");
    expect(parseSchema({ patternProperties: { "(a)\\1": {} } })).toHaveProperty("problems");
  });

  test("`$` in a pattern is the very end, and classes such as \\d are ASCII, as in RE2", () => {
    expect(checkValue(schemaOf({ pattern: "^\\d$" }), "1\n")).toHaveLength(1);
    expect(checkValue(schemaOf({ pattern: "^\\d$" }), "߀")).toHaveLength(1);
  });

  test("a format is checked, and an unknown format is rejected", () => {
    expect(checkValue(schemaOf({ format: "date" }), "today")).toHaveLength(1);
    expect(parseSchema({ format: "idn-hostname" })).toHaveProperty("problems");
  });

  test("a host name in Punycode is checked only for its characters", () => {
    expect(checkValue(schemaOf({ format: "hostname" }), "xn--x")).toEqual([]);
  });

  test("a duration can omit a unit between two others, as ISO 8601 allows", () => {
    expect(checkValue(schemaOf({ format: "duration" }), "PT1H5S")).toEqual([]);
  });

  test("`$id` changes no reference, and nothing is fetched", () => {
    expect(
      parseSchema({ $id: "https://example.org/a", $ref: "https://example.org/a#/$defs/b", $defs: { b: {} } }),
    ).toHaveProperty("problems");
  });

  test("`$ref` refers to names only, and `$defs` are at the top only", () => {
    expect(parseSchema({ properties: { a: {}, b: { $ref: "#/properties/a" } } })).toHaveProperty("problems");
    expect(parseSchema({ properties: { a: { $defs: {} } } })).toHaveProperty("problems");
  });

  test("`$schema` can name any version, and keywords that only that version has are rejected by name", () => {
    const $schema = "http://json-schema.org/draft-07/schema#";
    expect(parseSchema({ $schema })).toHaveProperty("schema");
    const parsed = parseSchema({ $schema, additionalItems: false });
    expect("problems" in parsed && parsed.problems).toEqual([
      expect.objectContaining({ detail: expect.stringContaining("`additionalItems` is not a keyword") }),
    ]);
  });

  test("a schema that obviously no value can fit is rejected", () => {
    for (const schema of [
      { minimum: 2, maximum: 1 },
      { minProperties: 2, maxProperties: 1 },
      { enum: ["a"], const: "b" },
    ])
      expect(parseSchema(schema)).toHaveProperty("problems");
  });

  test("an unknown keyword is rejected and not ignored", () => {
    expect(parseSchema({ minLenght: 1 })).toHaveProperty("problems");
  });

  test("a reference that leads back to itself without an inner value is rejected", () => {
    expect(parseSchema({ allOf: [{ $ref: "#" }] })).toHaveProperty("problems");
  });
});
