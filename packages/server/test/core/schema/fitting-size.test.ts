import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { bytesOfJson } from "../../../src/core/json/json-size.ts";
import { fittingSizeOf } from "../../../src/core/schema/fitting-size.ts";
import { checkValue } from "../../../src/core/schema/schema.ts";
import { jsonValues, rawDefinitions, schemaOf, tryParse } from "./schema-arbitraries.ts";

const unbounded = Number.POSITIVE_INFINITY;
const closed = (properties: JsonObject, required: string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

test.each<[schema: JsonValue, low: number, high: number]>([
  [{ type: "null" }, 4, 4],
  [{ type: "boolean" }, 4, 5],
  [{ type: "integer", minimum: 1, maximum: 1000 }, 1, 4],
  [{ type: "integer", maximum: -10 }, 3, 24],
  [{ type: "integer" }, 1, 24],
  [{ type: "number" }, 1, 24],
  [{ type: "string", minLength: 3, maxLength: 10 }, 5, 12],
  [{ type: "string" }, 2, unbounded],
  [{ enum: ["a", "abc"] }, 3, 5],
  [{ type: "array", items: { type: "null" }, minItems: 2, maxItems: 3 }, 11, 16],
  [{ type: "array", items: { type: "null" } }, 2, unbounded],
  [{ type: "array", items: { type: "null" }, maxItems: 0 }, 2, 2],
  [{ type: "array", prefixItems: [{ type: "null" }, { const: 1 }], items: false, minItems: 1 }, 6, 8],
  [{ type: "object" }, 2, unbounded],
  [closed({ a: { const: 1 }, b: { type: "null" } }, ["a"]), 7, 16],
  [{ ...closed({ a: { const: 1 } }, ["a"]), additionalProperties: true }, 7, unbounded],
  [{ anyOf: [{ type: "string", maxLength: 1 }, { type: "boolean" }] }, 2, 5],
  [{}, 1, unbounded],
])("values that fit %j have from %d to %d bytes", (schema, low, high) => {
  expect(fittingSizeOf(schemaOf(schema))).toEqual({ low, high });
});

test("a schema that no value fits has no size, and a recursive schema has no bound", () => {
  expect(fittingSizeOf(schemaOf(false))).toBeUndefined();
  expect(fittingSizeOf(schemaOf(closed({ a: false }, ["a"])))).toBeUndefined();
  const tree = closed({ left: { $ref: "#/definitions/tree" }, right: { $ref: "#/definitions/tree" } }, []);
  expect(fittingSizeOf(schemaOf({ $ref: "#/definitions/tree" }, { tree }))).toEqual({ low: 2, high: unbounded });
});

test("the size of every value is within the bounds of the schemas that it fits", () => {
  let fitting = 0;
  const property = fc.property(rawDefinitions, jsonValues, (definitions, value) => {
    const schemas = tryParse(definitions);
    const bytes = bytesOfJson(value);
    fc.pre(schemas !== undefined && bytes === JSON.stringify(value).length);
    for (const schema of schemas?.values() ?? []) {
      if (checkValue(schema, value).length > 0) continue;
      fitting++;
      const size = fittingSizeOf(schema);
      expect(size?.low).toBeLessThanOrEqual(bytes);
      expect(size?.high).toBeGreaterThanOrEqual(bytes);
    }
  });
  fc.assert(property, { numRuns: tries(1_000) });
  expect(fitting).toBeGreaterThan(tries(100));
});
