import { expect, test } from "vitest";
import { welchT } from "../src/time/timing.ts";

/** Numbers that look random, but are the same in every run. */
function samples(seed: number, least: number, count = 2_000): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return least + state / 2 ** 31;
  });
}

test("two samples of the same times are not told apart", () => {
  for (let seed = 1; seed <= 20; seed += 1)
    expect(Math.abs(welchT(samples(seed, 2), samples(seed + 100, 2)))).toBeLessThan(4.5);
});

test("a difference of 4 % is found, and so is the faster sample", () => {
  expect(welchT(samples(1, 2), samples(2, 2.1))).toBeLessThan(-4.5);
  expect(welchT(samples(1, 2.1), samples(2, 2))).toBeGreaterThan(4.5);
});

test("answers that a busy machine made slow neither hide nor fake a difference", () => {
  const slowed = (values: number[]) => values.map((value, index) => (index % 20 === 0 ? value + 500 : value));
  expect(Math.abs(welchT(slowed(samples(1, 2)), samples(2, 2)))).toBeLessThan(4.5);
  expect(welchT(slowed(samples(1, 2)), samples(2, 2.1))).toBeLessThan(-4.5);
});

test("Welch's t of small samples equals the value of a textbook", () => {
  // Without the slowest of the ten values, the means are 3 and 5, and the variances 2.5 and 20/3.
  expect(welchT([1, 2, 3, 4, 5], [2, 4, 6, 8, 1_000])).toBeCloseTo((3 - 5) / Math.sqrt(2.5 / 5 + 20 / 3 / 4), 10);
});
