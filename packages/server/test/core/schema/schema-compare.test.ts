import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { SchemaComparison } from "../../../src/core/schema/compare/compare.ts";
import { checkValue, compareSchemas, type Fit, type Schema } from "../../../src/core/schema/schema.ts";
import { jsonValues, rawDefinitions, schemasOf, tryParse } from "./schema-arbitraries.ts";

function compare(from: JsonValue, to: JsonValue, others: JsonObject = {}) {
  const schemas = schemasOf({ ...others, from, to });
  const [fromSchema, toSchema] = [schemas.get("from"), schemas.get("to")];
  if (fromSchema === undefined || toSchema === undefined) throw new Error("unreachable");
  return compareSchemas(fromSchema, toSchema);
}

const tree = (leaf: JsonValue): JsonObject => ({
  tree: {
    type: "object",
    properties: { value: leaf, children: { type: "array", items: { $ref: "#/definitions/tree" } } },
    required: ["value"],
  },
});

const tagged = (kind: string, properties: JsonObject): JsonObject => ({
  type: "object",
  properties: { kind: { const: kind }, ...properties },
  required: ["kind", ...Object.keys(properties)],
});
const card = tagged("card", { number: { type: "string" } });
const cash = tagged("cash", {});
const pair: JsonObject = { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false };
const numbered = (schema: JsonValue): JsonObject => ({
  type: "object",
  patternProperties: { "^n": schema },
  additionalProperties: false,
});

describe("values of the first schema fit the second", () => {
  test.each<[Fit, JsonValue, JsonValue]>([
    ["always", { type: "string" }, {}],
    ["always", { type: "string" }, true],
    ["maybe", {}, { type: "string" }],
    ["never", { type: "string" }, { type: "number" }],
    ["never", { type: "string" }, false],
    ["always", false, { type: "string" }],
    ["always", { type: "integer" }, { type: "number" }],
    ["maybe", { type: "number" }, { type: "integer" }],
    ["maybe", { type: ["string", "null"] }, { type: "string" }],
    ["always", { type: "string" }, { type: ["string", "null"] }],
    ["never", { type: ["string", "null"] }, { type: ["number", "object"] }],
    // Listed values.
    ["always", { enum: ["a", "b"] }, { enum: ["a", "b", "c"] }],
    ["maybe", { enum: ["a", "b"] }, { enum: ["b", "c"] }],
    ["never", { enum: ["a", "b"] }, { enum: ["c"] }],
    ["always", { enum: ["a", "b"] }, { type: "string", maxLength: 1 }],
    ["always", { enum: ["a", 1], type: "string" }, { const: "a" }],
    ["maybe", { type: "string" }, { enum: ["a"] }],
    ["never", { type: "string", minLength: 2 }, { enum: ["a", 1] }],
    ["always", { type: "boolean" }, { enum: [true, false] }],
    ["maybe", { type: "boolean" }, { const: true }],
    ["always", { type: "null" }, { const: null }],
    // Ranges.
    ["always", { type: "number", minimum: 1 }, { minimum: 0 }],
    ["maybe", { type: "number", minimum: 0 }, { minimum: 1 }],
    ["never", { type: "number", maximum: 0 }, { exclusiveMinimum: 0 }],
    ["always", { type: "integer", exclusiveMinimum: 0 }, { minimum: 1 }],
    ["maybe", { type: "number", exclusiveMinimum: 0 }, { minimum: 1 }],
    ["never", { type: "integer", maximum: 0.5 }, { minimum: 0.5 }],
    ["always", { type: "number", minimum: 0, maximum: 1 }, { minimum: 0, exclusiveMaximum: 2 }],
    ["maybe", { minimum: 0 }, { type: "number" }],
    ["always", { type: "string", minLength: 2, maxLength: 3 }, { minLength: 1, maxLength: 3 }],
    ["never", { type: "string", maxLength: 1 }, { minLength: 2 }],
    ["always", { type: "string", pattern: "^a" }, { pattern: "^a" }],
    ["maybe", { type: "string", pattern: "^a" }, { pattern: "^b" }],
    ["always", { type: "string", format: "uuid" }, { format: "uuid" }],
    ["maybe", { type: "string" }, { format: "uuid" }],
    // Arrays.
    ["always", { type: "array", items: { type: "integer" } }, { items: { type: "number" } }],
    ["maybe", { type: "array", items: { type: "string" } }, { items: { type: "number" } }],
    ["never", { type: "array", items: { type: "string" }, minItems: 1 }, { items: { type: "number" } }],
    ["always", { type: "array", items: { type: "string" }, maxItems: 0 }, { items: { type: "number" } }],
    ["never", { type: "array", minItems: 3 }, { maxItems: 2 }],
    // Objects.
    ["always", { type: "object", required: ["a"] }, { type: "object" }],
    ["maybe", { type: "object" }, { required: ["a"] }],
    ["never", { type: "object", additionalProperties: false }, { required: ["a"] }],
    ["never", { type: "object", properties: { a: false } }, { required: ["a"] }],
    ["maybe", { type: "object", properties: { a: { type: "string" } } }, { properties: { a: { type: "number" } } }],
    [
      "never",
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { a: { type: "number" } } },
    ],
    [
      "never",
      { type: "object", properties: { a: { type: "string" } } },
      { properties: { a: { type: "number" } }, required: ["a"] },
    ],
    [
      "always",
      { type: "object", properties: { a: {} }, additionalProperties: false },
      { properties: { a: {}, b: {} }, additionalProperties: false },
    ],
    [
      "maybe",
      { type: "object", properties: { a: {}, b: {} }, additionalProperties: false },
      { properties: { a: {} }, additionalProperties: false },
    ],
    ["never", { type: "object", required: ["b"] }, { properties: { a: {} }, additionalProperties: false }],
    ["maybe", { type: "object" }, { additionalProperties: { type: "string" } }],
    [
      "always",
      { type: "object", additionalProperties: { type: "integer" } },
      { additionalProperties: { type: "number" } },
    ],
    [
      "always",
      { type: "object", properties: { toString: { type: "string" } } },
      { properties: { toString: { type: "string" } } },
    ],
    [
      "never",
      { type: "object", $ref: "#/definitions/numberA", properties: { a: { type: "string" } } },
      { type: "object", properties: { a: {} }, required: ["a"] },
    ],
    // Alternatives on both sides.
    ["always", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: ["null", "string"] }],
    ["always", { type: ["null", "string"] }, { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["maybe", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string" }],
    ["never", { anyOf: [{ const: 1 }, { const: 2 }] }, { anyOf: [{ const: 3 }, { type: "string" }] }],
    [
      "always",
      {
        anyOf: [
          { type: "object", required: ["a"] },
          { type: "object", required: ["a", "b"] },
        ],
      },
      { required: ["a"] },
    ],
    [
      "always",
      { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { anyOf: [{ required: ["b"] }, { required: ["a"] }] },
    ],
    // References, and keywords beside them.
    ["always", { $ref: "#/definitions/name", maxLength: 5 }, { $ref: "#/definitions/name" }],
    ["maybe", { $ref: "#/definitions/name" }, { $ref: "#/definitions/name", maxLength: 5 }],
    ["never", { $ref: "#/definitions/name" }, { type: "null" }],
    // All of several schemas.
    ["always", { allOf: [{ type: "string" }, { minLength: 2 }] }, { type: "string", minLength: 1 }],
    ["always", { type: "string", minLength: 2 }, { allOf: [{ type: "string" }, { minLength: 1 }] }],
    ["maybe", { type: "string" }, { allOf: [{ type: "string" }, { minLength: 1 }] }],
    ["never", { type: "string", maxLength: 1 }, { allOf: [{ type: "string" }, { minLength: 2 }] }],
    // Exactly one of several schemas.
    ["always", { type: ["string", "null"] }, { oneOf: [{ type: "string" }, { type: "null" }] }],
    ["maybe", { type: "integer" }, { oneOf: [{ type: "integer" }, { minimum: 3 }] }],
    ["never", { type: "object" }, { oneOf: [{ type: "string" }, { type: "null" }] }],
    ["always", { oneOf: [card, cash] }, { anyOf: [card, cash] }],
    ["always", { anyOf: [card, cash] }, { oneOf: [cash, card] }],
    ["always", { oneOf: [card, cash] }, { oneOf: [{ ...card, required: ["kind"] }, cash] }],
    ["maybe", { oneOf: [card, cash] }, { oneOf: [card] }],
    ["always", card, { oneOf: [card, cash] }],
    ["maybe", card, { oneOf: [card, { ...card }] }],
    // Exclusions.
    ["always", { type: "string" }, { not: { type: "number" } }],
    ["never", { type: "string" }, { not: { type: "string" } }],
    ["never", { type: "string", maxLength: 2 }, { not: { maxLength: 3 } }],
    ["maybe", { type: "string" }, { not: { maxLength: 3 } }],
    ["always", { not: { type: "string" } }, { type: ["null", "boolean", "number", "array", "object"] }],
    ["always", { type: "object", not: { $ref: "#/definitions/numberA" } }, { not: { $ref: "#/definitions/numberA" } }],
    ["always", card, { not: cash }],
    // Conditions.
    ["always", card, { if: card, then: { required: ["number"] } }],
    ["always", cash, { if: card, then: { required: ["number"] } }],
    ["always", { type: "object" }, { if: card, then: { required: ["number"] } }],
    ["maybe", { type: "object" }, { if: cash, then: { required: ["amount"] } }],
    ["never", card, { if: cash, then: true, else: { required: ["kind"], properties: { kind: false } } }],
    ["always", { if: { type: "string" }, then: { minLength: 1 }, else: false }, { type: "string" }],
    [
      "always",
      { type: "object", if: { required: ["a"] }, then: { required: ["b"] }, else: { required: ["c"] } },
      { anyOf: [{ required: ["b"] }, { required: ["c"] }] },
    ],
    // Numbers.
    ["always", { type: "integer" }, { multipleOf: 0.01 }],
    ["always", { type: "number", multipleOf: 6 }, { multipleOf: 1.5 }],
    ["maybe", { type: "number", multipleOf: 1.5 }, { multipleOf: 6 }],
    ["never", { const: 7 }, { multipleOf: 2 }],
    // Arrays.
    ["always", { type: "array", uniqueItems: true }, { uniqueItems: true }],
    ["maybe", { type: "array" }, { uniqueItems: true }],
    ["always", { type: "array", maxItems: 1 }, { uniqueItems: true }],
    ["always", pair, pair],
    ["always", pair, { type: "array", items: { type: ["string", "number"] }, maxItems: 2 }],
    ["always", pair, { prefixItems: [{ type: "string" }, { type: "number" }, { type: "null" }], items: false }],
    ["maybe", pair, { prefixItems: [{ type: "string" }, { type: "integer" }] }],
    ["never", { ...pair, minItems: 1 }, { prefixItems: [{ type: "null" }] }],
    ["never", { ...pair, minItems: 2 }, { maxItems: 1 }],
    ["maybe", pair, { prefixItems: [{ type: "string" }], items: false }],
    ["never", pair, { minItems: 3 }],
    ["maybe", { type: "array", prefixItems: [{ type: "string" }] }, { items: { type: "string" } }],
    // Objects.
    ["always", { type: "object", required: ["a", "b"] }, { minProperties: 2 }],
    ["never", { type: "object", required: ["a", "b"] }, { maxProperties: 1 }],
    ["always", { type: "object", properties: { a: {}, b: {} }, additionalProperties: false }, { maxProperties: 2 }],
    ["never", { type: "object", properties: { a: {} }, additionalProperties: false }, { minProperties: 2 }],
    ["maybe", { type: "object" }, { minProperties: 1 }],
    ["always", { type: "object", minProperties: 2, maxProperties: 3 }, { minProperties: 1, maxProperties: 3 }],
    ["always", { type: "object", additionalProperties: { type: "null" } }, { propertyNames: { type: "string" } }],
    ["always", { type: "object", propertyNames: { maxLength: 2 } }, { propertyNames: { maxLength: 3 } }],
    [
      "always",
      { type: "object", properties: { ab: {} }, additionalProperties: false },
      { propertyNames: { maxLength: 2 } },
    ],
    ["never", { type: "object", required: ["abc"] }, { propertyNames: { maxLength: 2 } }],
    ["maybe", { type: "object" }, { propertyNames: { maxLength: 2 } }],
    ["always", { type: "object", required: ["a", "b"] }, { dependentRequired: { a: ["b"] } }],
    ["always", { type: "object", dependentRequired: { a: ["b"], b: ["c"] } }, { dependentRequired: { a: ["c"] } }],
    ["always", { type: "object", required: ["a"], dependentRequired: { a: ["b"] } }, { required: ["b"] }],
    ["always", { type: "object", properties: { a: false } }, { dependentRequired: { a: ["b"] } }],
    ["never", { type: "object", required: ["a"], properties: { b: false } }, { dependentRequired: { a: ["b"] } }],
    ["maybe", { type: "object", required: ["a"] }, { dependentRequired: { a: ["b"] } }],
    // Properties whose names match a pattern.
    ["always", numbered({ type: "integer" }), numbered({ type: "number" })],
    ["maybe", numbered({ type: "number" }), numbered({ type: "integer" })],
    [
      "always",
      { type: "object", additionalProperties: { type: "integer" } },
      { patternProperties: { "^n": { type: "number" } } },
    ],
    ["maybe", { type: "object" }, { patternProperties: { "^n": { type: "number" } } }],
    ["maybe", numbered({ type: "integer" }), { additionalProperties: false }],
    [
      "always",
      { type: "object", properties: { n1: { type: "integer" } }, additionalProperties: false },
      { patternProperties: { "^n": { type: "number" } } },
    ],
    [
      "never",
      { type: "object", properties: { n1: { type: "string" } }, required: ["n1"] },
      { properties: { n1: {} }, patternProperties: { "^n": { type: "number" } } },
    ],
  ])("%s: %j → %j", (fit, from, to) => {
    const comparison = compare(from, to, {
      name: { type: "string", minLength: 1 },
      numberA: { properties: { a: { type: "number", minimum: 1 } } },
    });
    expect(comparison.fit).toBe(fit);
    expect(comparison.problems.length > 0).toBe(fit !== "always");
  });

  test("always, if both describe the same recursive thing", () => {
    const other = {
      type: "object",
      properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#/definitions/other" } } },
    };
    const definitions = { ...tree({ type: "integer" }), other };
    expect(compare({ $ref: "#/definitions/tree" }, { $ref: "#/definitions/other" }, definitions).fit).toBe("always");
    expect(compare({ $ref: "#/definitions/other" }, { $ref: "#/definitions/tree" }, definitions).fit).toBe("maybe");
  });

  test("never, if the recursive things differ in what they require", () => {
    const other = {
      type: "object",
      properties: { value: { type: "string" }, children: { type: "array", items: { $ref: "#/definitions/other" } } },
    };
    const definitions = { ...tree({ type: "integer" }), other };
    expect(compare({ $ref: "#/definitions/tree" }, { $ref: "#/definitions/other" }, definitions).fit).toBe("never");
  });
});

test("a schema that excludes itself one level deeper is compared correctly, by a comparison that makes no assumptions", () => {
  // {} fits `even`, {next: {}} does not fit, and {next: {next: {}}} fits again.
  const definitions: JsonObject = {
    chain: { type: "object", properties: { next: { $ref: "#/definitions/chain" } } },
    even: { properties: { next: { not: { $ref: "#/definitions/even" } } } },
    odd: { not: { $ref: "#/definitions/even" } },
    either: { if: { $ref: "#/definitions/even" }, then: { minProperties: 0 }, else: false },
  };
  for (const name of ["even", "odd", "either"]) {
    const to = { $ref: `#/definitions/${name}` };
    expect(compare({ $ref: "#/definitions/chain" }, to, definitions).fit, name).toBe("maybe");
  }
});

describe("a comparison says where a value may not fit, and why", () => {
  test.each<[JsonValue, JsonValue, string, string]>([
    [{ type: ["string", "null"] }, { type: "string" }, "", "may be null, but must be a string"],
    [{ type: "string" }, { type: "integer" }, "", "is a string, but must be an integer"],
    [{ type: "number" }, { type: "integer" }, "", "may be a number with a fraction, but must be an integer"],
    [{}, { type: "string" }, "", "may be anything, but must be a string"],
    [{ type: "object" }, { required: ["a"] }, "/a", "may be missing, but is required"],
    [{ type: "object", additionalProperties: false }, { required: ["a"] }, "/a", "is missing, but is required"],
    [
      { type: "object", properties: { a: {} }, required: ["a"] },
      { additionalProperties: false },
      "/a",
      "is there, but is not allowed",
    ],
    [
      { type: "object", properties: { a: {} } },
      { properties: { a: {} }, additionalProperties: false },
      "",
      "may be an object with properties that are not allowed",
    ],
    [
      { type: "number", minimum: 0 },
      { minimum: 1, maximum: 5 },
      "",
      "may be 0 or more, but must be 1 or more and 5 or less",
    ],
    [
      { type: "string" },
      { maxLength: 5 },
      "",
      "may be 0 or more characters long, but must be 0 or more and 5 or less characters long",
    ],
    [{ const: "a" }, { const: "b" }, "", 'is "a", which does not fit (must be "b")'],
    [{ type: "array", items: {} }, { items: { type: "null" } }, "/0", "may be anything, but must be null"],
    [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { anyOf: [{ type: "null" }, { properties: { a: { type: "null" } } }] },
      "/a",
      "is a string, but must be null",
    ],
    [{ type: "string", maxLength: 2 }, { not: { maxLength: 3 } }, "", "is a value that `not` excludes"],
    [{ type: "array" }, { uniqueItems: true }, "", "may be an array with equal items"],
    [{ type: "number" }, { multipleOf: 2 }, "", "may be a number that is not a multiple of 2"],
    [
      { type: "object" },
      { minProperties: 1 },
      "",
      "may be an object of 0 or more properties, but must be an object of 1 or more properties",
    ],
    [
      { type: "object", required: ["abc"] },
      { propertyNames: { maxLength: 2 } },
      "/abc",
      "is there, but has a name that `propertyNames` refuses",
    ],
    [
      { type: "object", required: ["a"] },
      { dependentRequired: { a: ["b"] } },
      "/b",
      "may be missing, but is required by `dependentRequired`",
    ],
    [
      { type: "object" },
      { patternProperties: { "^n": { type: "null" } } },
      "",
      "may be an object with properties that match the pattern ^n and do not fit",
    ],
    [
      { type: "integer" },
      { oneOf: [{ type: "integer" }, { minimum: 3 }] },
      "",
      "may be more than one of the alternatives (`oneOf`)",
    ],
    [pair, { prefixItems: [{ type: "null" }] }, "/0", "may be a string, but must be null"],
  ])("%j → %j", (from, to, pointer, detail) => {
    expect(compare(from, to).problems).toContainEqual({ pointer, detail });
  });
});

describe("a schema reported as always fitting always fits, and one reported as never fitting never fits", () => {
  test.each([
    ["for one schema", ["first"]],
    ["for two that a value fits both", ["first", "second"]],
  ])("%s", (_, names) => {
    const seen: Record<Fit, number> = { always: 0, maybe: 0, never: 0 };
    const values = fc.array(jsonValues, { minLength: 10, maxLength: 40 });
    const property = fc.property(rawDefinitions, values, (definitions, candidates) => {
      const schemas = tryParse(definitions);
      fc.pre(schemas !== undefined);
      const from = names.flatMap((name) => schemas?.get(name) ?? []);
      const to = schemas?.get("third");
      if (to === undefined) return;
      const { allFit, noneFits } = new SchemaComparison().compare(from, to);
      for (const value of candidates) {
        if (from.some((schema) => checkValue(schema, value).length > 0)) continue;
        seen[allFit ? "always" : noneFits ? "never" : "maybe"] += 1;
        const isFit = checkValue(to, value).length === 0;
        if (allFit || noneFits) expect(isFit, JSON.stringify(value)).toBe(allFit);
      }
    });
    fc.assert(property, { numRuns: tries(4_000) });
    // The property would prove nothing if schemas that fit, or values that fit, were rare.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(tries(500));
  });
});

test("a schema always fits itself", () => {
  const property = fc.property(rawDefinitions, (definitions) => {
    const schema = tryParse(definitions)?.get("first");
    fc.pre(schema !== undefined);
    if (schema !== undefined) expect(compareSchemas(schema, schema).fit).toBe("always");
  });
  fc.assert(property, { numRuns: tries(500) });
});

test("a result that depends on a wrong assumption is computed again", () => {
  const schemas = schemasOf({
    a: { type: "object", properties: { other: { $ref: "#/definitions/b" }, value: { type: "string" } } },
    b: { type: "object", properties: { back: { $ref: "#/definitions/a" } } },
    a2: { type: "object", properties: { other: { $ref: "#/definitions/b2" }, value: { type: "number" } } },
    b2: { type: "object", properties: { back: { $ref: "#/definitions/a2" } } },
  });
  const [a, b, a2, b2] = ["a", "b", "a2", "b2"].map((name) => schemas.get(name) as Schema) as [
    Schema,
    Schema,
    Schema,
    Schema,
  ];
  const comparison = new SchemaComparison();
  // While `a` is being compared with `a2`, it is assumed to fit, and `b` fits `b2` only on that assumption.
  expect(comparison.compare([a], a2).allFit).toBe(false);
  expect(comparison.compare([b], b2).allFit).toBe(false);
});

test.each<[string, JsonObject]>([
  ["thousands of alternatives", { from: { anyOf: manyObjects(3_000, "a") }, to: { anyOf: manyObjects(3_000, "b") } }],
  ["alternatives in alternatives", { ...doubling("from"), ...doubling("to") }],
  ["a chain of thousands of levels", { ...levels("from", {}), ...levels("to", { type: "null" }) }],
])("%s are compared in bounded time", (_, definitions) => {
  const schemas = schemasOf(definitions);
  const [from, to] = [schemas.get("from"), schemas.get("to")];
  if (from === undefined || to === undefined) throw new Error("unreachable");
  const startedAt = performance.now();
  expect(compareSchemas(from, to).fit).toBe("maybe");
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1_000));
});

function manyObjects(count: number, prefix: string): JsonValue[] {
  return Array.from({ length: count }, (_, index) => ({ type: "object", required: [`${prefix}${index}`] }));
}

function doubling(name: string): JsonObject {
  const names = [name, ...Array.from({ length: 6 }, (_, index) => `${name}${index}`)];
  const entries = names.map((one, index): [string, JsonValue] => {
    const next = { $ref: `#/definitions/${names[index + 1]}` };
    return [one, index === names.length - 1 ? { type: "object", required: [name] } : { anyOf: [next, next] }];
  });
  return Object.fromEntries(entries);
}

function levels(name: string, end: JsonValue): JsonObject {
  const names = [name, ...Array.from({ length: 3_000 }, (_, index) => `${name}${index}`)];
  const entries = names.map((one, index): [string, JsonValue] => [
    one,
    index === names.length - 1 ? end : { properties: { next: { $ref: `#/definitions/${names[index + 1]}` } } },
  ]);
  return Object.fromEntries(entries);
}
