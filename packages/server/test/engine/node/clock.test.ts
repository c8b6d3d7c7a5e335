import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";

const hourMs = 3_600_000;
/** The database's time at the first heartbeat. */
const databaseNow = Date.parse("2026-01-31T12:00:00Z");

/** The machine has two clocks: the system clock, which people set, and the monotonic timer. */
let monotonicMs: number;
function pass(ms: number): void {
  monotonicMs += ms;
  vi.setSystemTime(Date.now() + ms);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  monotonicMs = 5_000;
});
afterEach(() => {
  vi.useRealTimers();
});

function clockSetBy(database: number): DatabaseClock {
  const clock = new DatabaseClock(() => monotonicMs);
  clock.adjust(database, monotonicMs, monotonicMs);
  return clock;
}

test.each([1 * hourMs, -1 * hourMs, 25 * hourMs])(
  "a change of the machine's clock by %d ms changes no time of the service",
  (stepMs) => {
    const clock = clockSetBy(databaseNow);

    vi.setSystemTime(Date.now() + stepMs);
    expect(clock.now()).toBe(databaseNow);

    pass(1_500);
    expect(clock.now()).toBe(databaseNow + 1_500);
  },
);

test("before the first heartbeat the machine's clock at the start counts, and later changes of it do not", () => {
  vi.setSystemTime(databaseNow);
  const clock = new DatabaseClock(() => monotonicMs);

  vi.setSystemTime(databaseNow - hourMs);
  pass(250);

  expect(clock.now()).toBe(databaseNow + 250);
});

test("each heartbeat sets the clock by the database's clock, forward or back", () => {
  const clock = clockSetBy(databaseNow);
  pass(1_000);

  clock.adjust(databaseNow + 990, monotonicMs, monotonicMs);
  expect(clock.now()).toBe(databaseNow + 990);

  clock.adjust(databaseNow + 1_400, monotonicMs, monotonicMs);
  expect(clock.now()).toBe(databaseNow + 1_400);
});

test.each([
  [
    "an answer that took long leaves the clock alone if the database's time fits some moment of the round trip",
    1_200,
    3_000,
  ],
  ["the clock goes forward to the earliest time that fits the round trip", 3_500, 3_500],
  ["the clock goes back to the latest time that fits the round trip", -700, 2_300],
])("%s", (_, readAt, expected) => {
  const clock = clockSetBy(databaseNow);
  const before = monotonicMs;
  pass(3_000);

  clock.adjust(databaseNow + readAt, before, monotonicMs);

  expect(clock.now()).toBe(databaseNow + expected);
});

test("times are whole milliseconds", () => {
  const clock = clockSetBy(databaseNow);
  monotonicMs += 0.7;
  expect(clock.now()).toBe(databaseNow + 1);
});
