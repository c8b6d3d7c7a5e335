import type { JsonObject, JsonValue } from "../../../server/src/core/json/json.ts";

/** Makes an object with this many properties. */
export function wide(count: number): JsonObject {
  return named(count, 1);
}

/** Makes an object with this many properties, which all have this value. Their names are the prefix and a number. */
export function named(count: number, value: JsonValue, prefix = "k"): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index.toString(36)}`, value]));
}

export function many(count: number, value: JsonValue): JsonValue[] {
  return Array.from({ length: count }, () => value);
}

/** Makes schemas that demand different patterns. */
export function patterns(count: number): { pattern: string }[] {
  return Array.from({ length: count }, (_, index) => ({ pattern: `^x${index}[a-z]+$` }));
}

/** Makes the keywords `if`, `then` and `else`, each with this schema. */
export function conditional(schema: JsonValue): JsonObject {
  return Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, schema]));
}
