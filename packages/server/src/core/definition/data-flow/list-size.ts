import { fittingSizeOf } from "../../schema/fitting-size.ts";
import type { Schema } from "../../schema/node.ts";
import { type ItemCount, maxItems } from "../fork-result.ts";

/**
 * Describes a list of a forEach's results that is certainly, or possibly, larger than the limit of an output. Undefined when the schemas show
 * neither. The list is certainly too large if even the smallest possible number of items, each with the smallest output, exceeds the limit. It is
 * possibly too large if the largest possible number of items, each with the largest output, exceeds the limit. If the size of an output has no upper
 * bound, its smallest size counts instead. If the number of items has no upper bound, the list is never called possibly too large.
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
