import { expect, test } from "vitest";
import { median, medianBy, percentile } from "./samples.ts";

test("a percentile is the smallest sample for which at least this percentage of all are smaller or equal", () => {
  const samples = Float64Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentile(samples, 50)).toBe(100);
  expect(percentile(samples, 99)).toBe(198);
  expect(percentile(Float64Array.of(7), 99)).toBe(7);
});

test("a median is a value that was measured", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 6])).toBe(5);
  expect(medianBy([{ rate: 3 }, { rate: 1 }, { rate: 2 }], ({ rate }) => rate)).toEqual({ rate: 2 });
});
