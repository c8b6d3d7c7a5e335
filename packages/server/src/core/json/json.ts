import { findJsonProblem, type JsonProblem, nestsDeeper } from "./json-problem.ts";

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** `integer` is not a JSON type, because 1 and 1.0 are the same number. */
export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

/**
 * Parses JSON text. The JSON text of request bodies, of definitions and of the outputs of calls is parsed only here. Some text is rejected although
 * `JSON.parse` accepts it, because later code would fail at the text or silently change it (see `json-problem.ts`). When an object repeats a key, the
 * last value counts.
 *
 * This runs for every request. So only a suspicious text is walked through first. In any other text, only the syntax can be wrong. Such a text goes
 * directly to `JSON.parse`, and is walked through only if `JSON.parse` rejects it.
 */
export function parseJson(
  text: string,
  limits: { readonly maxDepth: number },
): { readonly value: JsonValue } | { readonly problem: JsonProblem } {
  if (isSuspicious(text, limits.maxDepth)) {
    const problem = findJsonProblem(text, limits.maxDepth);
    return problem === undefined ? { value: JSON.parse(text) } : { problem };
  }
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const problem = findJsonProblem(text, limits.maxDepth);
    // The walk knows the whole grammar of JSON. So the walk and `JSON.parse` disagree only if one of them has a defect.
    if (problem === undefined) throw error;
    return { problem };
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function jsonTypeOf(value: JsonValue): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "object";
  }
}

/** Whether two values are equal, at any depth. The order of an object's keys does not matter. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && areEqualLists(a, b);
  return isJsonObject(a) && isJsonObject(b) && areEqualObjects(a, b);
}

/** Whether two texts are the same JSON value. White space, the order of keys and the way in which a number is written do not matter. */
export function isSameJson(a: string, b: string, limits: { readonly maxDepth: number }): boolean {
  if (a === b) return true;
  const one = parseJson(a, limits);
  const other = parseJson(b, limits);
  return "value" in one && "value" in other && jsonEquals(one.value, other.value);
}

function areEqualLists(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((item, index) => jsonEquals(item, b[index] as JsonValue));
}

function areEqualObjects(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key] as JsonValue, b[key] as JsonValue));
}

/**
 * Whether a text may have something to reject. False when nothing but its syntax can be wrong. Without `\u` there is no NUL, and half of a surrogate
 * pair can only be written as a raw character, which `isWellFormed` finds. Without sixteen digits in a row and without an exponent, every number is
 * safe. Several simple searches together take a quarter of the time of JSON.parse. One combined expression would take half of the time of JSON.parse.
 */
function isSuspicious(text: string, maxDepth: number): boolean {
  return (
    text.includes("\\u") ||
    suspiciousNumber.test(text) ||
    suspiciousKey.test(text) ||
    !text.isWellFormed() ||
    nestsDeeper(text, maxDepth)
  );
}

const suspiciousNumber = /[0-9](?:[eE][-+]?[0-9]+(?:[\s,\]}]|$)|[0-9]{15})/;
const suspiciousKey = /__proto__|constructor/;
