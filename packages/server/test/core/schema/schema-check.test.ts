import { type Schema as SchemaDocument, Validator } from "@cfworker/json-schema";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { checkValue } from "../../../src/core/schema/schema.ts";
import { jsonValues, type RawDefinitions, rawDefinitions, schemaOf, tryParse } from "./schema-arbitraries.ts";

describe("a value that does not fit is reported with its place and the reason", () => {
  test.each<[JsonValue, JsonValue, string, string]>([
    [{ type: "string" }, 1, "", "must be a string, but is a number"],
    [{ type: "integer" }, 1.5, "", "must be an integer, but is a number with a fraction"],
    [{ type: "integer" }, "1", "", "must be an integer, but is a string"],
    [{ type: "number" }, "1", "", "must be a number, but is a string"],
    [{ type: ["string", "null"] }, {}, "", "must be a string or null, but is an object"],
    [{ type: ["array", "boolean", "object"] }, null, "", "must be a boolean, an array or an object, but is null"],
    [{ type: "string" }, 1.5, "", "must be a string, but is a number"],
    [false, 1, "", "is not allowed here"],
    [{ required: ["sku"] }, {}, "/sku", "is required"],
    [
      { properties: { sku: {} }, additionalProperties: false },
      { skus: 1 },
      "/skus",
      "is not a property that is allowed here; did you mean `sku`?",
    ],
    [{ properties: { a: false } }, { a: 1 }, "/a", "is not a property that is allowed here"],
    [
      { properties: { "a/b": { items: { type: "null" } } } },
      { "a/b": [null, 1] },
      "/a~1b/1",
      "must be null, but is a number",
    ],
    [{ additionalProperties: { type: "null" } }, { x: 1 }, "/x", "must be null, but is a number"],
    [{ const: "a" }, "b", "", 'must be "a"'],
    [{ enum: ["a", 1, null] }, "b", "", 'must be "a", 1 or null'],
    [{ enum: [["a"], "b"] }, ["b"], "", "is not among the 2 allowed values"],
    [{ enum: Array.from({ length: 11 }, (_, index) => index) }, "b", "", "is not among the 11 allowed values"],
    [{ const: "x".repeat(250) }, "b", "", "is not the one allowed value"],
    [{ minimum: 1 }, 0, "", "must be 1 or more"],
    [{ maximum: 1 }, 2, "", "must be 1 or less"],
    [{ exclusiveMinimum: 1 }, 1, "", "must be more than 1"],
    [{ exclusiveMaximum: 1 }, 1, "", "must be less than 1"],
    [{ minLength: 2 }, "😀", "", "must be at least 2 characters long"],
    [{ maxLength: 1 }, "😀😀", "", "must be at most 1 character long"],
    [{ minItems: 1 }, [], "", "must have at least 1 item"],
    [{ maxItems: 1 }, [1, 2], "", "must have at most 1 item"],
    [{ pattern: "^[0-9]{12}$" }, "12345678901a", "", "must match the pattern ^[0-9]{12}$"],
    [{ format: "uuid" }, "x", "", "must be a UUID"],
    [{ anyOf: [{ type: "null" }, { required: ["a"] }] }, {}, "/a", "is required"],
    [{ anyOf: [{ type: "null" }, { type: "string" }] }, 1, "", "must be a string or null, but is a number"],
    [{ anyOf: [{ const: "a" }, { const: "b" }] }, "c", "", "fits none of the 2 alternatives (`anyOf`) for a string"],
    [{ anyOf: [{ const: "a" }, { const: "b" }] }, 1, "", "must be a string, but is a number"],
    [{ oneOf: [{ type: "null" }, { required: ["a"] }] }, {}, "/a", "is required"],
    [{ oneOf: [{ const: "a" }, { const: "b" }] }, "c", "", "fits none of the 2 alternatives (`oneOf`) for a string"],
    [
      { oneOf: [{ type: "null" }, { type: "string" }, { minLength: 1 }] },
      "c",
      "",
      "fits both `oneOf/1` and `oneOf/2`, but must fit exactly one",
    ],
    [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "a", "", "must be at least 2 characters long"],
    [{ not: { type: "string" } }, "a", "", "must not fit the schema of `not`, but does"],
    [{ if: { type: "string" }, then: { minLength: 2 } }, "a", "", "must be at least 2 characters long"],
    [{ if: { type: "string" }, else: { type: "null" } }, 1, "", "must be null, but is a number"],
    [{ multipleOf: 0.01 }, 2.075, "", "must be a multiple of 0.01"],
    [{ multipleOf: 3 }, 7, "", "must be a multiple of 3"],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }], "/2", "equals item 0, but no two items may be equal"],
    [{ prefixItems: [{ type: "string" }, { type: "null" }] }, ["a", 1], "/1", "must be null, but is a number"],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "/1", "is not allowed here"],
    [{ minProperties: 1 }, {}, "", "must have at least 1 property"],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, "", "must have at most 1 property"],
    [
      { propertyNames: { maxLength: 2 } },
      { abc: 1 },
      "/abc",
      "has a name that `propertyNames` does not allow: it must be at most 2 characters long",
    ],
    [{ patternProperties: { "^n": { type: "null" } } }, { n1: 1 }, "/n1", "must be null, but is a number"],
    [
      { patternProperties: { "^n": {} }, additionalProperties: false },
      { m: 1 },
      "/m",
      "is not a property that is allowed here",
    ],
    [
      { properties: { n1: { minimum: 1 } }, patternProperties: { "^n": { type: "number" } } },
      { n1: "a" },
      "/n1",
      "must be a number, but is a string",
    ],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "/b", "is required, because `a` is there"],
    [{ format: "duration" }, "1 day", "", "must be a duration as in P1DT12H or PT30M (ISO 8601)"],
  ])("%j does not accept %j", (raw, value, pointer, detail) => {
    expect(checkValue(schemaOf(raw), value)).toEqual([{ pointer, detail }]);
  });

  test("all problems are reported at once, up to a bound", () => {
    const raw = { required: ["a"], properties: { a: {}, b: { type: "null" } }, additionalProperties: false };
    expect(checkValue(schemaOf(raw), { b: 1, c: 2 }).map(({ pointer }) => pointer)).toEqual(["/a", "/b", "/c"]);
    const items = schemaOf({ items: { type: "null" } });
    expect(checkValue(items, new Array(1_000).fill(1))).toHaveLength(20);
  });
});

describe("the check of a value", () => {
  test.each<[JsonValue, JsonValue]>([
    [true, { any: ["thing"] }],
    [{}, null],
    [{ type: "integer" }, 1.0],
    [{ type: "number" }, 1],
    [{ minimum: 5 }, "text has no minimum"],
    [{ minLength: 1, maxLength: 1 }, "😀"],
    [{ maxLength: 2 }, "😀😀"],
    [{ pattern: "b" }, "abc"],
    [{ pattern: "^.$" }, "😀"],
    [{ const: { a: [1, 2] } }, { a: [1, 2] }],
    [{ enum: [0] }, -0],
    [{ required: ["toString"] }, { toString: 1 }],
    [{ properties: { toString: { type: "number" } }, additionalProperties: false }, { toString: 1 }],
    [{ $ref: "#/definitions/other", minLength: 2 }, "ab"],
    [{ multipleOf: 0.01 }, 2.07],
    [{ multipleOf: 0.01 }, 1e300],
    [{ multipleOf: 0.1 }, -0.3],
    [{ multipleOf: 1e-8 }, 12391239123],
    [{ multipleOf: 0.5 }, 0],
    [{ multipleOf: 3 }, "text is no multiple of anything"],
    [{ uniqueItems: true }, [1, true, "1", [1], ["1"], { a: 1 }, { a: "1" }, null]],
    [{ uniqueItems: false }, [1, 1]],
    [{ prefixItems: [{ type: "string" }], items: { type: "null" } }, ["a", null, null]],
    [{ prefixItems: [{ type: "string" }, { type: "null" }] }, ["a"]],
    [{ then: false }, 1],
    [{ if: false }, 1],
    [
      { patternProperties: { "^n": { type: "null" } }, additionalProperties: { type: "string" } },
      { n: null, m: "a" },
    ],
    [{ propertyNames: false }, {}],
  ])("accepts for %j the value %j", (raw, value) => {
    expect(checkValue(schemaOf(raw, { other: { type: "string" } }), value)).toEqual([]);
  });

  test("requires that the value itself has the properties: inherited properties of an object do not count", () => {
    expect(checkValue(schemaOf({ required: ["toString", "hasOwnProperty"] }), {})).toHaveLength(2);
    expect(checkValue(schemaOf({ properties: {}, additionalProperties: false }), { constructor: 1 })).toHaveLength(1);
  });

  test("also applies the keywords beside a $ref", () => {
    const schema = schemaOf({ $ref: "#/definitions/other", minLength: 2 }, { other: { maxLength: 3 } });
    expect(["a", "ab", "abcd"].map((text) => checkValue(schema, text).length)).toEqual([1, 0, 1]);
  });
});

test("no message shows the allowed values of a sensitive property", () => {
  const secret = { enum: ["hunter2"] };
  const cases: [JsonValue, JsonValue][] = [
    [{ ...secret, "x-sensitive": true }, "wrong"],
    [{ $ref: "#/definitions/secret", "x-sensitive": true }, "wrong"],
    [{ properties: { password: secret }, "x-sensitive": true }, { password: "wrong" }],
    [{ allOf: [secret], "x-sensitive": true }, "wrong"],
    [{ oneOf: [{ type: "null" }, secret], "x-sensitive": true }, "wrong"],
    [{ if: true, then: secret, "x-sensitive": true }, "wrong"],
    [{ prefixItems: [{ ...secret, "x-sensitive": true }] }, ["wrong"]],
    [{ patternProperties: { "^p": secret }, "x-sensitive": true }, { password: "wrong" }],
  ];
  for (const [raw, value] of cases) {
    const [problem] = checkValue(schemaOf(raw, { secret }), value);
    expect(problem?.detail).toBe("is not an allowed value");
  }
  const names = schemaOf({ propertyNames: { enum: ["hunter2"] }, "x-sensitive": true });
  expect(JSON.stringify(checkValue(names, { wrong: 1 }))).not.toContain("hunter2");
});

test("no message shows the value", () => {
  const property = fc.property(rawDefinitions, jsonValues, (definitions, value) => {
    const schema = tryParse(definitions)?.get("first");
    fc.pre(schema !== undefined);
    const marked = JSON.parse(JSON.stringify(value).replaceAll(/"(ab|abc)"(?!:)/g, '"MARK"')) as JsonValue;
    if (schema !== undefined) expect(JSON.stringify(checkValue(schema, marked))).not.toContain("MARK");
  });
  fc.assert(property, { numRuns: tries(1_000) });
});

test("a value fits exactly when an independent implementation of JSON Schema 2020-12 says so", () => {
  const property = fc.property(
    rawDefinitions,
    fc.array(jsonValues, { minLength: 5, maxLength: 20 }),
    (definitions, values) => {
      const schema = tryParse(definitions)?.get("first");
      fc.pre(schema !== undefined);
      if (schema === undefined) return;
      const reference = new Validator(documentOf(definitions), "2020-12");
      for (const value of values) {
        const isFit = checkValue(schema, value).length === 0;
        expect(isFit, JSON.stringify(value)).toBe(verdictOf(reference, value) ?? isFit);
      }
    },
  );
  fc.assert(property, { numRuns: tries(3_000) });
});

/** Undefined if the reference validator never ends: it evaluates an `if` that leads back to itself, even without a `then` or `else`. */
function verdictOf(reference: Validator, value: JsonValue): boolean | undefined {
  try {
    return reference.validate(value).valid;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Puts all definitions into one document. There `#` means the whole document, so `#/$defs/local` in a definition gets the definition's path. */
function documentOf(definitions: RawDefinitions): SchemaDocument {
  const placed = Object.entries(definitions).map(([name, schema]) => {
    const text = JSON.stringify(schema).replaceAll(/"#(?=\/\$defs\/|")/g, `"#/definitions/${name}`);
    return [name, JSON.parse(text)];
  });
  return { $ref: "#/definitions/first", definitions: Object.fromEntries(placed) };
}

test("a pattern that costs other engines hours is checked quickly", () => {
  const schema = schemaOf({ pattern: "^(a|a)*$" });
  const startedAt = performance.now();
  expect(checkValue(schema, `${"a".repeat(100_000)}b`)).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(500));
});

describe("a check that would take too long is aborted, and the value does not fit", () => {
  const schemas: [string, JsonValue, JsonObject, JsonValue][] = [
    [
      "alternatives that double at every level",
      { $ref: "#/definitions/node" },
      {
        node: {
          anyOf: [
            { type: "array", items: { $ref: "#/definitions/node" } },
            { type: "array", items: { $ref: "#/definitions/node" }, maxItems: 5 },
          ],
        },
      },
      JSON.parse(`${"[".repeat(40)}"x"${"]".repeat(40)}`),
    ],
    [
      "references that double at every level",
      { $ref: "#/definitions/node" },
      {
        node: { $ref: "#/definitions/again", items: { $ref: "#/definitions/node" } },
        again: { items: { $ref: "#/definitions/node" } },
      },
      JSON.parse("[".repeat(40) + "]".repeat(40)),
    ],
    [
      "branches that double at every level",
      { $ref: "#/definitions/node" },
      {
        node: {
          if: { type: "array", items: { $ref: "#/definitions/node" } },
          then: { type: "array", items: { $ref: "#/definitions/node" } },
          else: false,
        },
      },
      JSON.parse("[".repeat(40) + "]".repeat(40)),
    ],
    [
      "exclusions that double at every level",
      { $ref: "#/definitions/node" },
      {
        node: {
          not: { oneOf: [{ items: { $ref: "#/definitions/node" } }, { items: { $ref: "#/definitions/node" } }] },
        },
      },
      JSON.parse("[".repeat(40) + "]".repeat(40)),
    ],
    ["a large pattern on a large text", { pattern: "a[ab]{450}c" }, {}, "ab".repeat(500_000)],
    [
      "many alternatives for a large text",
      { anyOf: Array.from({ length: 10_000 }, () => ({ minLength: 900_000 })) },
      {},
      "😀".repeat(500_000),
    ],
  ];

  test.each(schemas)("%s", (_, raw, others, value) => {
    const schema = schemaOf(raw, others);
    expect(checkValue(schema, value)).toEqual([
      { pointer: "", detail: expect.stringContaining("more than 1500000 checks") },
    ]);
  });
});

test("a megabyte of data is checked to the end", () => {
  const raw = { items: { $ref: "#/definitions/digit" } };
  const schema = schemaOf(raw, { digit: { type: "integer", minimum: 0, maximum: 9 } });
  expect(checkValue(schema, new Array(500_000).fill(7))).toEqual([]);
});

test("the deepest chains of conditions, at every level of the deepest value, fit on the stack", () => {
  let node: JsonObject = { type: "array" };
  for (let level = 0; level < 63; level++) {
    let schema: JsonObject = { type: "array", items: node };
    for (let link = 0; link < 5; link++) schema = { not: { oneOf: [{ if: schema, then: false }] } };
    node = schema;
  }
  expect(checkValue(schemaOf(node), JSON.parse("[".repeat(64) + "]".repeat(64)))).toEqual([]);
});

test("the deepest chains of references, at every level of the deepest value, fit on the stack", () => {
  const definitions: JsonObject = {};
  for (let level = 0; level < 63; level++) {
    for (let link = 0; link < 8; link++) {
      const next = link < 7 ? `d${level}-${link + 1}` : `d${level + 1}-0`;
      const reference = { $ref: `#/definitions/${next}` };
      definitions[`d${level}-${link}`] = link < 7 ? { anyOf: [reference] } : { type: "array", items: reference };
    }
  }
  const schema = schemaOf({ $ref: "#/definitions/d0-0" }, { ...definitions, "d63-0": { type: "array" } });
  expect(checkValue(schema, JSON.parse("[".repeat(64) + "]".repeat(64)))).toEqual([]);
});
