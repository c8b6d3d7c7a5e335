import { expect, test } from "vitest";
import { ReadTime } from "../../../src/store/home/read-time.ts";

function timeByHand() {
  let now = 0;
  const time = new ReadTime(5_000, () => now);
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

/** Lets an organization read as often as it may for a minute, and returns the part of the time that its reads took. */
function shareOf(readMs: number, others: readonly string[]): number {
  const { time, pass } = timeByHand();
  let spentMs = 0;
  let passedMs = 0;
  while (passedMs < 60_000) {
    for (const name of ["own", ...others]) time.arrive(name);
    pass(readMs);
    const restMs = time.spend("own", readMs);
    pass(restMs);
    spentMs += readMs;
    passedMs += readMs + restMs;
  }
  return spentMs / passedMs;
}

test.each([
  [5, 0.37],
  [50, 0.37],
  [500, 0.37],
  [3_000, 0.5],
])("an organization whose reads take %i ms gets at most %f of the time while others read", (readMs, most) => {
  expect(shareOf(readMs, ["other"])).toBeLessThan(most);
});

test("an organization never rests for more than a second while no other organization reads", () => {
  expect(shareOf(3_000, [])).toBeGreaterThan(0.7);
});

test.each([
  ["alone", [], 1_000],
  ["beside others", ["other"], 4_000],
] as const)(
  "if an organization reads %s, its rest ends before waiting reads miss their deadline, and its long reads no longer count after the rest",
  (_where, others, longestRestMs) => {
    const { time, pass } = timeByHand();
    for (let count = 0; count < 100; count += 1) {
      for (const name of ["own", ...others]) time.arrive(name);
      expect(time.spend("own", 30_000)).toBeCloseTo(longestRestMs);
    }
    pass(longestRestMs + 100);
    expect(time.spend("own", 10)).toBe(0);
  },
);

test("while others read, an organization that has read for long may have only one read under way, and no other until this one ends", () => {
  const { time, pass } = timeByHand();
  time.arrive("own");
  time.spend("own", 1_200);
  expect(time.isOneAtATime("own")).toBe(false);
  time.arrive("other");
  expect(time.isOneAtATime("own")).toBe(true);
  expect(time.isOneAtATime("other")).toBe(false);
  time.begin("own");
  pass(3_000);
  expect(time.isOneAtATime("own")).toBe(true);
  time.spend("own", 0);
  expect(time.isOneAtATime("own")).toBe(false);
});
