import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import {
  checkValue,
  declaredProperties,
  isClosed,
  narrowValue,
  requiredProperties,
  withoutRequired,
} from "../../../src/core/schema/schema.ts";
import { jsonValues, rawDefinitions, schemaOf, tryParse } from "./schema-arbitraries.ts";

const closed = { properties: { a: {}, b: {} }, additionalProperties: false };
const others: JsonObject = {
  closed,
  alsoClosed: { properties: { b: {}, c: {} }, additionalProperties: false },
  open: { properties: { a: {}, d: {} } },
};

describe("a schema is closed, with the properties that it allows, when it", () => {
  test.each<[string, JsonValue, string[]]>([
    ["forbids additional properties", closed, ["a", "b"]],
    ["forbids all properties", { additionalProperties: false }, []],
    ["refers to a schema that does", { $ref: "#/definitions/closed" }, ["a", "b"]],
    [
      "refers to a schema that does, and names more",
      { $ref: "#/definitions/closed", properties: { x: {} } },
      ["a", "b"],
    ],
    [
      "forbids additional properties beside a reference: then only its own properties are allowed",
      { $ref: "#/definitions/open", ...closed },
      ["a", "b"],
    ],
    [
      "includes a closed one by `allOf`",
      { allOf: [{ $ref: "#/definitions/closed" }, { required: ["a"] }] },
      ["a", "b"],
    ],
    [
      "includes two closed ones by `allOf`: the properties that both declare",
      { allOf: [closed, { $ref: "#/definitions/alsoClosed" }] },
      ["b"],
    ],
    [
      "is closed and refers to a closed one: the properties that both declare",
      { $ref: "#/definitions/alsoClosed", ...closed },
      ["b"],
    ],
    [
      "has alternatives and forbids them itself",
      { ...closed, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      ["a", "b"],
    ],
  ])("%s", (_, raw, names) => {
    const schema = schemaOf(raw, others);
    expect(isClosed(schema)).toBe(true);
    expect([...declaredProperties(schema)]).toEqual(names);
  });
});

describe("a schema is open when it", () => {
  test.each<[string, JsonValue, string[]]>([
    ["says nothing", {}, []],
    ["only names properties", { properties: { a: {} } }, ["a"]],
    ["allows additional properties", { properties: { a: {} }, additionalProperties: true }, ["a"]],
    ["has a schema for additional properties", { additionalProperties: { type: "string" } }, []],
    ["refers to an open one", { $ref: "#/definitions/open", properties: { x: {} } }, ["x", "a", "d"]],
    ["has closed alternatives only", { anyOf: [closed, closed] }, []],
    ["has closed alternatives of which one must fit", { oneOf: [closed, closed] }, []],
    ["is closed under a condition", { if: {}, then: closed }, []],
    ["excludes a closed one", { not: closed }, []],
    ["lets names through by a pattern", { ...closed, patternProperties: { "^x": {} } }, ["a", "b"]],
    [
      "takes over open ones by `allOf`",
      { allOf: [{ properties: { x: {} } }, { $ref: "#/definitions/open" }] },
      ["x", "a", "d"],
    ],
    ["allows nothing at all", false, []],
  ])("%s", (_, raw, names) => {
    const schema = schemaOf(raw, others);
    expect(isClosed(schema)).toBe(false);
    expect([...declaredProperties(schema)]).toEqual(names);
  });
});

test("narrowing keeps the properties that a closed schema declares, also through references", () => {
  const schema = schemaOf({ $ref: "#/definitions/closed" }, others);
  expect(narrowValue(schema, { x: 1, b: 2, toString: 3 })).toEqual({ b: 2 });
  expect(narrowValue(schemaOf({ $ref: "#/definitions/alsoClosed", ...closed }, others), { a: 1, b: 2, c: 3 })).toEqual({
    b: 2,
  });
});

test("narrowing returns the same value if there is nothing to drop", () => {
  const schema = schemaOf(closed);
  const values: JsonValue[] = [{ a: 1 }, {}, ["a"], "text", null];
  for (const value of values) expect(narrowValue(schema, value)).toBe(value);
  const open = { x: 1 };
  expect(narrowValue(schemaOf({ properties: { a: {} } }), open)).toBe(open);
});

test("a narrowed value has no property that the schema forbids", () => {
  const property = fc.property(rawDefinitions, jsonValues, (definitions, value) => {
    const schema = tryParse(definitions)?.get("first");
    fc.pre(schema !== undefined);
    if (schema === undefined || !isClosed(schema)) return;
    const narrowed = narrowValue(schema, value);
    if (isJsonObject(narrowed))
      expect(declaredProperties(schema).isSupersetOf(new Set(Object.keys(narrowed)))).toBe(true);
    if (checkValue(schema, value).length === 0) expect(narrowed).toBe(value);
  });
  fc.assert(property, { numRuns: tries(1_000) });
});

test("required properties are those of every value that fits", () => {
  const property = fc.property(rawDefinitions, fc.array(jsonValues, { maxLength: 20 }), (definitions, values) => {
    const schema = tryParse(definitions)?.get("first");
    fc.pre(schema !== undefined);
    if (schema === undefined) return;
    const required = [...requiredProperties(schema)];
    for (const value of values.filter((one) => checkValue(schema, one).length === 0)) {
      for (const name of required) expect(isJsonObject(value) && Object.hasOwn(value, name)).toBe(true);
    }
  });
  fc.assert(property, { numRuns: tries(1_000) });
  expect([...requiredProperties(schemaOf({ type: "object", required: ["a"] }))]).toEqual(["a"]);
  expect([...requiredProperties(schemaOf({ required: ["a"] }))]).toEqual([]);
});

test("a schema without some of its required properties accepts each object that fitted, minus those properties", () => {
  const names = new Set(["a", "b"]);
  let count = 0;
  const property = fc.property(rawDefinitions, fc.array(jsonValues, { maxLength: 20 }), (definitions, values) => {
    const schema = tryParse(definitions)?.get("first");
    fc.pre(schema !== undefined);
    if (schema === undefined) return;
    const loosened = withoutRequired(schema, names);
    for (const value of values.filter(isJsonObject)) {
      if (checkValue(schema, value).length > 0) continue;
      count += 1;
      const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
      expect(checkValue(loosened, rest), JSON.stringify(value)).toEqual([]);
    }
  });
  fc.assert(property, { numRuns: tries(1_000) });
  expect(count).toBeGreaterThan(tries(500));
});
