import type { JsonValue } from "./json.ts";

/** Makes a text that is the same for equal values, whatever the order of their keys, and different for different values. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`).join(",")}}`;
}

/**
 * The cost of making the canonical text, in units of about 50 ns. Equal values have equal costs. Counting stops when the cost exceeds `limit`, so
 * that a huge value takes little time. But the keys of each object that is reached are always listed and counted completely.
 */
export function costOfCanonicalJson(value: JsonValue, limit: number): number {
  if (typeof value === "string") return 1 + (value.length >> 3);
  if (typeof value !== "object" || value === null) return 1;
  const keys = Array.isArray(value) ? none : Object.keys(value);
  let cost = 1 + keys.length * costPerKey;
  for (const key of keys) {
    if (cost > limit) return cost;
    cost += (key.length >> 3) + costOfCanonicalJson((value as Record<string, JsonValue>)[key] ?? null, limit - cost);
  }
  if (!Array.isArray(value)) return cost;
  for (const item of value) {
    if (cost > limit) return cost;
    cost += costOfCanonicalJson(item, limit - cost);
  }
  return cost;
}

const none: readonly string[] = [];
/** Each key has to be listed and sorted. */
const costPerKey = 8;
