import type { JsonValue } from "./json.ts";
import { JsonText, type ShownValue } from "./json-text.ts";

/**
 * The approximate size of a value, in characters and members. Counting stops when the size exceeds `limit`, so that a huge value takes little time.
 */
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

/**
 * The size of an array. Each digit of an item's index adds 1 to the size, as each character of a member's name does. A `for … in` loop over the array
 * would make a text of each index, which takes ten times as long.
 */
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

/**
 * An upper bound on the bytes of JSON text for each character or member that `sizeOfJson` counts. A number needs the most: it counts as one member,
 * and may have this many characters.
 */
export const mostBytesPerMember = 24;

export function bytesOfJson(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * The bound on the values in one answer, in characters and members. Without it, two hundred values of a MiB, or one value of a MiB that hundreds of
 * steps show, would block all other requests for seconds. Also, no string can be longer than half a gigabyte.
 */
export const maxValuesSize = 16_000_000;
