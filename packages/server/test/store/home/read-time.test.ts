import { expect, test } from "vitest";
import { ReadTime } from "../../../src/store/home/read-time.ts";

function timeByHand() {
  let now = 0;
  const time = new ReadTime(() => now);
  const pass = (ms: number) => {
    now += ms;
  };
  return { time, pass };
}

test("an organization that reads for a moment does not rest", () => {
  const { time } = timeByHand();
  expect([500, 500, 500].map((ms) => time.spend("own", ms))).toEqual([0, 0, 0]);
});

test("an organization that reads all the time gets a third of the time, and the others do not rest because of it", () => {
  const { time, pass } = timeByHand();
  let readMs = 0;
  let passedMs = 0;
  while (passedMs < 60_000) {
    const restMs = time.spend("own", 60);
    expect(time.spend("other", 0)).toBe(0);
    pass(60 + restMs);
    readMs += 60;
    passedMs += 60 + restMs;
  }
  expect(readMs / passedMs).toBeGreaterThan(0.3);
  expect(readMs / passedMs).toBeLessThan(0.4);
});

test("the time of reads is forgotten gradually, and a rest is never so long that waiting reads miss their deadline", () => {
  const { time, pass } = timeByHand();
  expect(time.spend("own", 30_000)).toBe(1_000);
  pass(100_000);
  expect(time.spend("own", 1_000)).toBe(0);
});
