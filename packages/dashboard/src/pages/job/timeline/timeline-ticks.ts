import { locale } from "../../../texts/texts.ts";

/** A part of a job's time, in milliseconds since the job was submitted. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

export interface Tick {
  readonly at: number;
  readonly text: string;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The distances between marks that people expect on a time axis. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map((count) => count * day),
];

/** Returns the marks of a time axis, at round times. There are at most `mostTicks` + 1. */
export function ticksOf({ from, to }: TimeWindow, mostTicks = 6): readonly Tick[] {
  const step = steps.find((one) => (to - from) / one <= mostTicks) ?? (steps.at(-1) as number);
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: count }, (_, index) => {
    const at = (first + index) * step;
    return { at, text: textOf(at, step) };
  });
}

/** Formats a time as exactly as the distance between marks requires, so that no two marks have the same text. */
function textOf(at: number, step: number): string {
  if (at === 0) return "0";
  if (step < second) {
    if (at < second) return `${at} ms`;
    const digits = step % 100 === 0 ? 1 : step % 10 === 0 ? 2 : 3;
    return `${(at / second).toLocaleString(locale, { minimumFractionDigits: digits })} s`;
  }
  let rest = at;
  const parts: string[] = [];
  for (const [unit, length] of [
    ["d", day] as const,
    ["h", hour] as const,
    ["min", minute] as const,
    ["s", second] as const,
  ]) {
    const whole = Math.floor(rest / length);
    rest -= whole * length;
    if (whole > 0) parts.push(`${whole.toLocaleString(locale)} ${unit}`);
  }
  return parts.join(" ");
}
