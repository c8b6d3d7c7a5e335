import { scope } from "@stepwell/testing/scope.ts";
import { expect } from "vitest";

/**
 * Measures a part of a test, which must work in every set of tests. Only the whole matrix also expects that the best of a few tries is fast enough,
 * because in `npm test` the machine does too much other work. Stops after the first try that is fast enough.
 */
export async function expectWithin(promisedMs: number, measure: () => Promise<number>): Promise<void> {
  if (scope !== "all") {
    await measure();
    return;
  }
  let bestMs = Number.POSITIVE_INFINITY;
  for (let left = tries; left > 0 && bestMs > promisedMs; left -= 1) bestMs = Math.min(bestMs, await measure());
  expect(bestMs).toBeLessThanOrEqual(promisedMs);
}

const tries = 6;
