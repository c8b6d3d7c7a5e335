/** An interval of numbers, lengths or counts. A bound may be infinite. When a bound is open, the number at the bound is not in the range. */
export interface Range {
  readonly low: number;
  readonly isLowOpen: boolean;
  readonly high: number;
  readonly isHighOpen: boolean;
}

export function closedRange(low: number, high: number): Range {
  return { low, isLowOpen: false, high, isHighOpen: false };
}

/** A range with open bounds. An infinite bound is not marked as open, because infinity is not a value. */
export function openRange(low: number, high: number): Range {
  return { low, isLowOpen: Number.isFinite(low), high, isHighOpen: Number.isFinite(high) };
}

export const fullRange: Range = closedRange(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

export function intersect(a: Range, b: Range): Range {
  const low = Math.max(a.low, b.low);
  const high = Math.min(a.high, b.high);
  return {
    low,
    isLowOpen: (a.low === low && a.isLowOpen) || (b.low === low && b.isLowOpen),
    high,
    isHighOpen: (a.high === high && a.isHighOpen) || (b.high === high && b.isHighOpen),
  };
}

/** A range with the same whole numbers. Its bounds are whole numbers and are included. */
export function wholeRange({ low, isLowOpen, high, isHighOpen }: Range): Range {
  const lowest = Math.ceil(low);
  const highest = Math.floor(high);
  return closedRange(
    isLowOpen && lowest === low ? lowest + 1 : lowest,
    isHighOpen && highest === high ? highest - 1 : highest,
  );
}

export function isEmptyRange({ low, isLowOpen, high, isHighOpen }: Range): boolean {
  return low > high || (low === high && (isLowOpen || isHighOpen));
}

export function containsRange(outer: Range, inner: Range): boolean {
  const isLowInside = inner.low > outer.low || (inner.low === outer.low && (!outer.isLowOpen || inner.isLowOpen));
  const isHighInside =
    inner.high < outer.high || (inner.high === outer.high && (!outer.isHighOpen || inner.isHighOpen));
  return isLowInside && isHighInside;
}

/** Describes a range, for example "5 or more" or "more than 5 and less than 9". */
export function describeRange({ low, isLowOpen, high, isHighOpen }: Range): string {
  if (low === high) return String(low);
  const parts: string[] = [];
  if (Number.isFinite(low)) parts.push(isLowOpen ? `more than ${low}` : `${low} or more`);
  if (Number.isFinite(high)) parts.push(isHighOpen ? `less than ${high}` : `${high} or less`);
  return parts.length === 0 ? "any number" : parts.join(" and ");
}
