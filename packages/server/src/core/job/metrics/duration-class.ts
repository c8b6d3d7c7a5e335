/**
 * Durations are counted in classes. The bounds of each class are a tenth larger than those of the class before. So the counts of the classes are
 * enough to find any quantile within 5 %. From a millisecond to a year there are about 250 classes.
 */
const growth = 1.1;

/** The class of a whole number of milliseconds. */
export function durationClassOf(durationMs: number): number {
  return durationMs < 1 ? 0 : 1 + Math.floor(Math.log(durationMs) / Math.log(growth));
}

export interface DurationCount {
  readonly durationClass: number;
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

export interface DurationSummary {
  readonly avg: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Returns the summary in seconds. The average and the maximum are exact. */
export function summarizeDurations(classes: readonly DurationCount[]): DurationSummary | undefined {
  const sorted = classes.filter(({ count }) => count > 0).sort((one, other) => one.durationClass - other.durationClass);
  const count = sorted.reduce((sum, next) => sum + next.count, 0);
  if (count === 0) return undefined;
  const totalMs = sorted.reduce((sum, next) => sum + next.totalMs, 0);
  const seconds = (fraction: number) => quantileMs(sorted, fraction * (count - 1)) / 1000;
  return {
    avg: totalMs / count / 1000,
    p50: seconds(0.5),
    p95: seconds(0.95),
    p99: seconds(0.99),
    max: Math.max(...sorted.map(({ maxMs }) => maxMs)) / 1000,
  };
}

/** Works like PostgreSQL's percentile_cont, which interpolates between two durations. `position` counts from 0. */
function quantileMs(sorted: readonly DurationCount[], position: number): number {
  const lower = nthMs(sorted, Math.floor(position));
  const upper = nthMs(sorted, Math.ceil(position));
  return lower + (upper - lower) * (position - Math.floor(position));
}

function nthMs(sorted: readonly DurationCount[], n: number): number {
  let passed = 0;
  for (const next of sorted) {
    passed += next.count;
    if (n < passed) return middleOf(next);
  }
  return 0;
}

/**
 * When all durations of the class are equal, returns that duration. Otherwise returns the harmonic mean of the class's two bounds, but never more
 * than the longest duration.
 */
function middleOf({ durationClass, count, totalMs, maxMs }: DurationCount): number {
  if (totalMs === maxMs * count) return maxMs;
  const least = growth ** (durationClass - 1);
  return Math.min(maxMs, (2 * least * growth) / (1 + growth));
}
