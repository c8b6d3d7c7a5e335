import type { TimeWindow } from "./timeline-ticks.ts";

/** The length of the shortest window. The times in a job's history are not exact enough for a shorter one. */
const leastMs = 10;

/**
 * Returns the window with its length divided by `times`, which makes it longer if `times` is below 1. The time `around` keeps its place in the window
 * where possible. If `around` is outside of the window, the middle keeps its place.
 */
export function zoomed({ from, to }: TimeWindow, times: number, around: number, wholeMs: number): TimeWindow {
  const center = around >= from && around <= to ? around : (from + to) / 2;
  const length = Math.min(wholeMs, Math.max(leastMs, (to - from) / times));
  const part = to === from ? 0 : (center - from) / (to - from);
  return within(center - part * length, length, wholeMs);
}

/** Returns the window, moved by a part of its own length to later times, or to earlier times if `part` is negative. */
export function moved({ from, to }: TimeWindow, part: number, wholeMs: number): TimeWindow {
  return within(from + (to - from) * part, to - from, wholeMs);
}

/** Returns the window around a span of time, with some space at both ends. */
export function windowAround({ from, to }: TimeWindow, wholeMs: number): TimeWindow {
  const length = Math.min(wholeMs, Math.max(leastMs, (to - from) * 1.2));
  return within((from + to - length) / 2, length, wholeMs);
}

function within(from: number, length: number, wholeMs: number): TimeWindow {
  const start = Math.min(Math.max(0, from), Math.max(0, wholeMs - length));
  return { from: start, to: Math.min(wholeMs, start + length) };
}
