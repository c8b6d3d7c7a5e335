import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect } from "vitest";

/** Expects that the best of a few tries is fast enough, since the machine also does other work. Stops after the first try that is fast enough. */
export async function expectWithin(promisedMs: number, measure: () => Promise<number>): Promise<void> {
  const limitMs = timeLimit(promisedMs);
  let bestMs = Number.POSITIVE_INFINITY;
  for (let left = tries; left > 0 && bestMs > limitMs; left -= 1) bestMs = Math.min(bestMs, await measure());
  expect(bestMs).toBeLessThanOrEqual(limitMs);
}

const tries = 6;
