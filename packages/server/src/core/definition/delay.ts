import type { JsonValue } from "../json/json.ts";
import { hasFormat } from "../schema/formats/format.ts";
import { endOfTime, momentOf } from "../time.ts";

/** How long a step sleeps: for a number of milliseconds (`ms`), or until a time (`untilMs`, in milliseconds since 1970). */
export type Delay = { readonly ms: number } | { readonly untilMs: number };

/** The time at which a step that begins its sleep at `now` continues, in milliseconds since 1970. */
export function delayEnd(delay: Delay, now: number): number {
  return "ms" in delay ? now + delay.ms : delay.untilMs;
}

/** A year, like the maximum of a timeout. A larger number was probably meant as milliseconds. For a longer sleep there is `until`. */
export const maxDelaySeconds = 31_536_000;

/**
 * Reads the delay in a step's config, which must have either `seconds` or `until`. If the config is wrong, returns the problem and the
 * name of the wrong field. The name is empty when the config has both fields or neither of them.
 */
export function readDelay({
  seconds,
  until,
}: {
  readonly seconds?: JsonValue;
  readonly until?: JsonValue;
}): Delay | { readonly field: "" | "seconds" | "until"; readonly problem: string } {
  if ((seconds === undefined) === (until === undefined)) {
    return {
      field: "",
      problem: "must have exactly one of `seconds`, the length of the delay, and `until`, the time at which it ends",
    };
  }
  if (until !== undefined) {
    const untilMs = typeof until === "string" && hasFormat(until, "date-time") ? momentOf(until) : undefined;
    if (untilMs === undefined)
      return { field: "until", problem: "must be a time as in 2026-01-31T12:00:00Z (RFC 3339)" };
    return untilMs < endOfTime
      ? { untilMs }
      : { field: "until", problem: "must be a time before the year 10000 (UTC)" };
  }
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= maxDelaySeconds)) {
    const wanted = `a number of seconds from 0 to ${maxDelaySeconds} (a year)`;
    return { field: "seconds", problem: `must be ${wanted}; for a longer delay, use \`until\`` };
  }
  return { ms: Math.round(seconds * 1000) };
}
