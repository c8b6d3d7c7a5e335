import type { TimeWindow } from "./timeline-ticks.ts";

/** The times in a job's history are not more exact than this. */
const leastMs = 10;

/** The window, made smaller by this factor (larger for less than 1) around a time in it; for a time outside, around its middle. */
export function zoomed({ from, to }: TimeWindow, times: number, around: number, wholeMs: number): TimeWindow {
  const center = around >= from && around <= to ? around : (from + to) / 2;
  const length = Math.min(wholeMs, Math.max(leastMs, (to - from) / times));
  const part = to === from ? 0 : (center - from) / (to - from);
  return within(center - part * length, length, wholeMs);
}

/** The window moved by a part of its own length: to later times, or to earlier ones for less than 0. */
export function moved({ from, to }: TimeWindow, part: number, wholeMs: number): TimeWindow {
  return within(from + (to - from) * part, to - from, wholeMs);
}

/** The window around a stretch of time, with some room at both ends. */
export function windowAround({ from, to }: TimeWindow, wholeMs: number): TimeWindow {
  const length = Math.min(wholeMs, Math.max(leastMs, (to - from) * 1.2));
  return within((from + to - length) / 2, length, wholeMs);
}

function within(from: number, length: number, wholeMs: number): TimeWindow {
  const start = Math.min(Math.max(0, from), Math.max(0, wholeMs - length));
  return { from: start, to: Math.min(wholeMs, start + length) };
}
