import { describe, expect, test } from "vitest";
import { ticksOf } from "../../src/pages/job/timeline/timeline-ticks.ts";
import { moved, windowAround, zoomed } from "../../src/pages/job/timeline/timeline-window.ts";

const second = 1_000;
const hour = 3_600 * second;

describe("the ticks of a timeline", () => {
  test.each([
    [0, 7, ["0", "2 ms", "4 ms", "6 ms"]],
    [0, 1_300, ["0", "500 ms", "1.0 s"]],
    [125_000, 125_240, ["125.00 s", "125.05 s", "125.10 s", "125.15 s", "125.20 s"]],
    [0, 47 * second, ["0", "10 s", "20 s", "30 s", "40 s"]],
    [3_600_000, 3_600_000 + 50 * second, ["1 h", "1 h 10 s", "1 h 20 s", "1 h 30 s", "1 h 40 s", "1 h 50 s"]],
    [0, 25 * hour, ["0", "6 h", "12 h", "18 h", "1 d"]],
    [0, 1_000 * 24 * hour, ["0", "200 d", "400 d", "600 d", "800 d", "1,000 d"]],
  ])("the ticks from %i ms to %i ms are at round times: %j", (from, to, texts) => {
    expect(ticksOf({ from, to }).map(({ text }) => text)).toEqual(texts);
  });

  test("are never more than seven, and no two have the same text", () => {
    for (let length = 1; length < 1e12; length *= 1.7) {
      const ticks = ticksOf({ from: length / 3, to: length * 1.3 });
      expect(ticks.length).toBeLessThanOrEqual(7);
      expect(new Set(ticks.map(({ text }) => text)).size).toBe(ticks.length);
    }
  });
});

describe("the window of a timeline", () => {
  const whole = { from: 0, to: 1_000 };

  test("is halved around the selected step, which stays in place", () => {
    expect(zoomed(whole, 2, 900, 1_000)).toEqual({ from: 450, to: 950 });
    expect(zoomed({ from: 450, to: 950 }, 0.5, 900, 1_000)).toEqual(whole);
  });

  test("is halved around its middle if the step is outside of it", () => {
    expect(zoomed({ from: 0, to: 400 }, 2, 900, 1_000)).toEqual({ from: 100, to: 300 });
  });

  test("is never shorter than 10 ms, or longer than the job", () => {
    expect(zoomed({ from: 0, to: 12 }, 8, 6, 1_000)).toEqual({ from: 1, to: 11 });
    expect(zoomed({ from: 200, to: 900 }, 0.5, 500, 1_000)).toEqual(whole);
  });

  test("moves within the job's time", () => {
    expect(moved({ from: 0, to: 200 }, 0.5, 1_000)).toEqual({ from: 100, to: 300 });
    expect(moved({ from: 0, to: 200 }, -0.5, 1_000)).toEqual({ from: 0, to: 200 });
    expect(moved({ from: 800, to: 1_000 }, 0.5, 1_000)).toEqual({ from: 800, to: 1_000 });
  });

  test("is put around a step with some margin at both ends", () => {
    expect(windowAround({ from: 400, to: 500 }, 1_000)).toEqual({ from: 390, to: 510 });
    expect(windowAround({ from: 1_000, to: 1_000 }, 1_000)).toEqual({ from: 990, to: 1_000 });
  });
});
