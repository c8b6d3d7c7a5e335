import type { JsonValue } from "./json.ts";
import { JsonText, type ShownValue } from "./json-text.ts";

/** How large a value is, roughly: in characters and members. Counts until `limit` is passed, so that a huge value costs no more than that. */
export function sizeOfJson(value: ShownValue | readonly ShownValue[], limit: number): number {
  if (typeof value === "string") return value.length;
  if (value instanceof JsonText) return value.text.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return sizeOfItems(value, limit);
  let size = 1;
  for (const key in value) {
    size += key.length + sizeOfJson((value as Record<string, ShownValue>)[key] ?? null, limit - size);
    if (size > limit) break;
  }
  return size;
}

/** An index counts as the name of a member does: by its digits. A loop over the names of an array would make a text of each index, which takes ten times as long. */
function sizeOfItems(items: readonly ShownValue[], limit: number): number {
  let size = 1;
  let digits = 1;
  let nextDigitAt = 10;
  for (let index = 0; index < items.length; index += 1) {
    if (index === nextDigitAt) {
      digits += 1;
      nextDigitAt *= 10;
    }
    size += digits + sizeOfJson(items[index] ?? null, limit - size);
    if (size > limit) break;
  }
  return size;
}

/** The bytes that one of the characters and members of `sizeOfJson` may have at most: a number, the largest of them, has so many characters. */
export const mostBytesPerMember = 24;

/** The bytes that a value has as JSON text. */
export function bytesOfJson(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * The bound on the values in one answer, in characters and members. Two hundred of a MiB, or the same MiB from hundreds of steps, would hold up all others
 * for seconds; and beyond half a gigabyte no string is long enough.
 */
export const maxValuesSize = 16_000_000;
