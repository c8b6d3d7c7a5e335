import type { JsonObject, JsonValue } from "../../../server/src/core/json/json.ts";
import { conditional, many, named, patterns, wide } from "./parts.ts";

/*
 * The schemas, values and patterns that cost the service the most work. A search found them. They are stored here so that the search need not be
 * repeated.
 */

/** A schema, and a value that takes long to check against it. */
export interface CostlyCheck {
  readonly name: string;
  readonly schema: JsonValue;
  readonly value: JsonValue;
}

export function costlyChecks(): CostlyCheck[] {
  const letters = scattered("ab", 4_000);
  return [
    {
      name: "one large allowed object, and empty ones",
      schema: { items: { const: wide(25_000) } },
      value: many(66_000, {}),
    },
    {
      name: "an empty allowed object, and a wide one",
      schema: { anyOf: many(20_000, { const: {} }) },
      value: wide(25_000),
    },
    {
      name: "a large allowed object again and again",
      schema: { anyOf: many(100, { const: wide(2_000) }) },
      value: wide(2_001),
    },
    {
      name: "ten thousand alternatives",
      schema: { items: { anyOf: many(10_000, { minimum: 9 }) } },
      value: many(400_000, 1),
    },
    {
      name: "alternatives that require",
      schema: { items: { anyOf: many(9_000, { required: ["a", "b"] }) } },
      value: many(60_000, { b: 1 }),
    },
    {
      name: "alternatives that count characters",
      schema: { anyOf: many(9_000, { minLength: 900_000 }) },
      value: "😀".repeat(250_000),
    },
    {
      name: "alternatives of a format",
      schema: { anyOf: many(200, { format: "uri" }) },
      value: `http:${"a".repeat(1_000_000)}<`,
    },
    { name: "a pattern with many states", schema: { pattern: "a[ab]{480}c" }, value: letters },
    { name: "a pattern of optional letters", schema: { pattern: "(?:[ab]?){200}c" }, value: letters.slice(0, 2_000) },
    { name: "a pattern of Unicode letters", schema: { pattern: "a\\pL{100}\\d" }, value: scattered("aéж中", 9_000) },
    { name: "a pattern with one simple state", schema: { pattern: "^[^<>]*$" }, value: "a".repeat(1_000_000) },
    {
      name: "many short texts under a pattern",
      schema: { items: { pattern: "^[A-Z]{3}-[0-9]{4}$" } },
      value: many(80_000, "ABC-1234"),
    },
    {
      name: "many patterns for each text",
      schema: { items: { anyOf: patterns(250) } },
      value: many(80_000, "ABC-1234"),
    },
    {
      name: "many patterns that each text must match",
      schema: { items: { allOf: many(20, null).map((_, n) => ({ pattern: `^[A-Z]{3}-[0-9]{${n % 4},9}$` })) } },
      value: many(80_000, "ABC-1234"),
    },
    {
      name: "many different patterns that no text may match",
      schema: { items: { allOf: patterns(250).map(({ pattern }) => ({ not: { pattern } })) } },
      value: many(80_000, "ABC-1234"),
    },
    {
      name: "alternatives that look for a property of a wide object",
      schema: { anyOf: many(10_000, { properties: { k0: { minimum: 9 } } }) },
      value: wide(25_000),
    },
    { name: "different numbers", schema: { uniqueItems: true }, value: Array.from({ length: 150_000 }, (_, n) => n) },
    {
      name: "long texts that differ only at the end",
      schema: { anyOf: many(300, { uniqueItems: true, maxItems: 0 }) },
      value: Array.from({ length: 1_000 }, (_, n) => `${"a".repeat(1_000)}${n}`),
    },
    {
      name: "different objects",
      schema: { uniqueItems: true },
      value: Array.from({ length: 60_000 }, (_, n) => ({ a: [n], b: {} })),
    },
    {
      name: "small objects that differ",
      schema: { allOf: many(20, { uniqueItems: true }) },
      value: Array.from({ length: 50_000 }, (_, n) => ({ a: n })),
    },
    {
      name: "small arrays that differ",
      schema: { allOf: many(20, { uniqueItems: true }) },
      value: Array.from({ length: 50_000 }, (_, n) => [n]),
    },
    {
      name: "different numbers again and again",
      schema: { allOf: many(20, { uniqueItems: true }) },
      value: Array.from({ length: 150_000 }, (_, n) => n + 0.5),
    },
    {
      name: "wide objects that differ",
      schema: { allOf: many(20, { uniqueItems: true }) },
      value: Array.from({ length: 30 }, (_, n) => ({ ...wide(2_000), n })),
    },
    {
      name: "large items that are equal",
      schema: { items: { uniqueItems: true } },
      value: many(
        2,
        Array.from({ length: 20 }, () => wide(2_000)),
      ),
    },
    {
      name: "many patterns for each name",
      schema: { patternProperties: Object.fromEntries(patterns(250).map(({ pattern }) => [pattern, false])) },
      value: wide(25_000),
    },
    {
      name: "a pattern with many states for each name",
      schema: { patternProperties: { "a[ab]{480}c": false } },
      value: Object.fromEntries(many(200, "").map((_, n) => [letters.slice(n * 10, n * 10 + 2_000), 1])),
    },
    {
      name: "names that must match one of many patterns",
      schema: { propertyNames: { anyOf: patterns(250) } },
      value: wide(25_000),
    },
    {
      name: "alternatives of which exactly one must fit",
      schema: { items: { oneOf: [...many(10_000, { minimum: 9 }), {}] } },
      value: many(400_000, 1),
    },
    {
      name: "exclusions in exclusions",
      schema: { items: nested(15, { minimum: 9 }, (schema) => ({ not: schema })) },
      value: many(400_000, 1),
    },
    {
      name: "conditions in conditions",
      schema: { items: nested(7, { minimum: 9 }, conditional) },
      value: many(10_000, 1),
    },
    {
      name: "multiples of a small number",
      schema: { items: { allOf: many(10, { multipleOf: 1e-300 }) } },
      value: many(100_000, 1.7976931348623157e308),
    },
    {
      name: "properties that each require two others",
      schema: { anyOf: many(10, { dependentRequired: named(5_000, ["a", "b"]) }) },
      value: wide(25_000),
    },
    {
      name: "properties that are counted again and again",
      schema: { anyOf: many(10_000, { minProperties: 100_000 }) },
      value: wide(25_000),
    },
  ];
}

function nested(depth: number, schema: JsonValue, around: (schema: JsonValue) => JsonObject): JsonValue {
  return depth === 0 ? schema : nested(depth - 1, around(schema), around);
}

/** Patterns that cost far more than their text shows. */
export function costlyPatterns(): string[] {
  return [
    "(?i)[Ā-𞥃]",
    "(?i)[\\x{100}-\\x{1e943}]",
    `(?i)${"[Ā-𞥃]".repeat(150)}`,
    `(?i)[${"Ā-𞥃".repeat(240)}]`,
    "\\pL{300}",
    "[\\pL\\pN]{100}",
    `[${"\\pL".repeat(300)}]`,
    "\\PL(?i){999}",
    "(?:(?:(?:a?)?)?){400}",
    "(a|b|c){200}",
    "(){999}",
    `${"(".repeat(300)}a${")?".repeat(300)}`,
    `(?i)${"(aé|".repeat(120)}${")".repeat(120)}`,
    "a[ab]{490}c",
  ];
}

/** Makes a text that is the same in every run and looks random: it is not one short part, repeated again and again. */
function scattered(letters: string, length: number): string {
  const characters = [...letters];
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return characters[state % characters.length];
  }).join("");
}
