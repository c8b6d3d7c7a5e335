/** The percentile by nearest rank: the smallest sample for which at least `percent` % of all samples are smaller or equal. */
export function percentile(samples: Float64Array, percent: number): number {
  const sorted = samples.toSorted();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The median. For an even number of values it is the lower of the two in the middle, so that it is a measured value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

export function medianBy<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item {
  const sorted = items.toSorted((left, right) => keyOf(left) - keyOf(right));
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new Error("An empty list has no median.");
  return middle;
}

/** Rounds to three decimals, which is finer than these measurements are. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
