import { findJsonProblem, type JsonProblem, nestsDeeper } from "./json-problem.ts";

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** `integer` is no JSON type: 1 and 1.0 are the same number. */
export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

/**
 * The only place where JSON text enters. It rejects text that `JSON.parse` accepts but that a later part would fail on or silently change: see
 * `json-problem.ts`. If a key is repeated in an object, the last one wins.
 *
 * This runs on every request, so a text that cannot hold anything to reject goes to `JSON.parse` at once; only a suspicious one pays for the exact
 * walk.
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
    // The walk knows JSON's whole grammar, so the two disagree only if one of them has a defect.
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

/** Deep equality; the order of an object's keys does not matter. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && areEqualLists(a, b);
  return isJsonObject(a) && isJsonObject(b) && areEqualObjects(a, b);
}

/** Whether two texts are the same JSON value: white space, the order of keys and the spelling of a number do not matter. */
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
 * False only when nothing but the syntax of the text can be rejected. Without `\u` there is no NUL, and half a surrogate pair can only stand
 * unescaped; without sixteen digits in a row or an exponent, every number is safe. Several simple searches run at the speed of memory: together they
 * take a fourth of the time of JSON.parse, and one combined expression takes half of it.
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
