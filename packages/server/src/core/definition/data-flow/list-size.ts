import { fittingSizeOf } from "../../schema/fitting-size.ts";
import type { Schema } from "../../schema/node.ts";
import { type ItemCount, maxItems } from "../fork-result.ts";

/**
 * Says how the list of a forEach's results is, or may be, larger than an output may be. Undefined when the schemas do not show this. The list is
 * certainly too large if the fewest items with the smallest outputs make it so. It may be too large if the most items with the largest outputs make
 * it so. An output whose size has no upper bound counts with its smallest size.
 */
export function describeLargeList(count: ItemCount, given: Schema, maxBytes: number): string | undefined {
  const size = fittingSizeOf(given);
  if (size === undefined) return undefined;
  const isTooLarge = (itemCount: number, bytes: number) => itemCount * (bytes + comma) > maxBytes;
  if (isTooLarge(count.low, size.low)) return `gives ${count.low} outputs or more, each of ${size.low} bytes or more`;
  if (!Number.isFinite(count.high)) return undefined;
  const most = Math.min(count.high, maxItems);
  const isBounded = Number.isFinite(size.high);
  if (!isTooLarge(most, isBounded ? size.high : size.low)) return undefined;
  return `may give ${most} outputs, each of ${isBounded ? `up to ${size.high} bytes` : `${size.low} bytes or more`}`;
}

const comma = 1;
