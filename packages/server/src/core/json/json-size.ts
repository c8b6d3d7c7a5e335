import { JsonText, type ShownValue } from "./json-text.ts";

/** How large a value is, roughly: in characters and members. Counts until `limit` is passed, so that a huge value costs no more than that. */
export function sizeOfJson(value: ShownValue | readonly ShownValue[], limit: number): number {
  if (typeof value === "string") return value.length;
  if (value instanceof JsonText) return value.text.length;
  if (typeof value !== "object" || value === null) return 1;
  let size = 1;
  for (const key in value) {
    size += key.length + sizeOfJson((value as Record<string, ShownValue>)[key] ?? null, limit - size);
    if (size > limit) break;
  }
  return size;
}

/**
 * The bound on the values in one answer, in characters and members. Two hundred of a MiB, or the same MiB from hundreds of steps, would hold up all others
 * for seconds; and beyond half a gigabyte no string is long enough.
 */
export const maxValuesSize = 16_000_000;
