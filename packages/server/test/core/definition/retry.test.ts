import fc from "fast-check";
import { expect, test } from "vitest";
import { nextAttemptInMs } from "../../../src/core/definition/failures/retry.ts";

const policy = { maxAttempts: 4, initialIntervalSeconds: 1, backoffRate: 2, maxIntervalSeconds: 3, jitter: false };

test.each([
  [1, 1_000],
  [2, 2_000],
  [3, 3_000],
  [4, undefined],
])("after failed attempt %i the next attempt comes in %s ms", (failedAttempts, expected) => {
  expect(nextAttemptInMs(policy, failedAttempts, 0)).toBe(expected);
});

test("jitter gives between half of the interval and the whole interval", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 99 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (failedAttempts, random) => {
        const jittered = { ...policy, maxAttempts: 100, jitter: true };
        const whole = nextAttemptInMs({ ...jittered, jitter: false }, failedAttempts, 0) ?? 0;
        const wait = nextAttemptInMs(jittered, failedAttempts, random) ?? 0;
        expect(wait).toBeGreaterThanOrEqual(Math.floor(whole / 2));
        expect(wait).toBeLessThanOrEqual(whole);
      },
    ),
  );
});

test.each([
  ["which is longer than the policy's interval, and than its longest one", 60_000, 60_000],
  ["which is shorter than the policy's interval", 10, 1_000],
  ["which is longer than a day", 1e23, 24 * 60 * 60 * 1000],
  ["which is no wait", 0, 1_000],
])("the next attempt waits at least as long as the called side asked, %s", (_, retryAfterMs, expected) => {
  expect(nextAttemptInMs(policy, 1, 0, retryAfterMs)).toBe(expected);
});

test("a wait that the called side asked for adds no attempts", () => {
  expect(nextAttemptInMs(policy, 4, 0, 60_000)).toBeUndefined();
});
