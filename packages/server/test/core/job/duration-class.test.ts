import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type DurationCount,
  durationClassOf,
  summarizeDurations,
} from "../../../src/core/job/metrics/duration-class.ts";

const durations = fc.array(
  fc.oneof(fc.nat(20), fc.nat(10_000), fc.nat(31_536_000_000)).map((ms) => ms),
  { minLength: 1, maxLength: 60 },
);

/** Computes a quantile like PostgreSQL's percentile_cont. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = fraction * (sorted.length - 1);
  const [lower = 0, upper = 0] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return lower + (upper - lower) * (position - Math.floor(position));
}

function classesOf(all: readonly number[]): DurationCount[] {
  return [...Map.groupBy(all, durationClassOf)].map(([durationClass, own]) => ({
    durationClass,
    count: own.length,
    totalMs: own.reduce((sum, ms) => sum + ms, 0),
    maxMs: Math.max(...own),
  }));
}

test("counted durations have quantiles within 5 %, and an exact average and maximum", () => {
  fc.assert(
    fc.property(durations, (all) => {
      const sorted = [...all].sort((one, other) => one - other);
      const summary = summarizeDurations(classesOf(all));
      for (const [name, fraction] of [["p50", 0.5] as const, ["p95", 0.95] as const, ["p99", 0.99] as const]) {
        const wanted = quantile(sorted, fraction) / 1000;
        expect(Math.abs((summary?.[name] ?? Number.NaN) - wanted)).toBeLessThanOrEqual(0.05 * wanted + 1e-9);
      }
      expect(summary?.max).toBe((sorted.at(-1) ?? 0) / 1000);
      expect(summary?.avg).toBeCloseTo(all.reduce((sum, ms) => sum + ms, 0) / all.length / 1000, 6);
    }),
    { numRuns: 500 },
  );
});

test("if all durations are equal, the results are exact", () => {
  expect(summarizeDurations(classesOf([1_234, 1_234, 1_234]))).toEqual({
    avg: 1.234,
    p50: 1.234,
    p95: 1.234,
    p99: 1.234,
    max: 1.234,
  });
});

test("without durations there are no values", () => {
  expect(summarizeDurations([])).toBeUndefined();
});

test("a year in milliseconds is one of 250 classes", () => {
  expect(durationClassOf(365 * 86_400_000)).toBeLessThan(260);
  expect([0, 1, 2].map(durationClassOf)).toEqual([0, 1, 8]);
});
