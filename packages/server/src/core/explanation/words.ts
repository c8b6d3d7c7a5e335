import { quoted } from "../problem.ts";

/** Formats a duration with at most two units, because after an hour nobody needs the milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pair(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(whole / 3600);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** Names for a sentence: the first few, and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map(quoted);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

const maxListed = 5;

export function isOrAre(count: number): string {
  return count === 1 ? "is" : "are";
}

/** The maximum number of UTF-16 units of an error's message in a sentence. The message may come from a user's program and be much longer. */
const maxMessageLength = 300;

/** Returns a text about an error. The text ends like a sentence. */
export function errorText({ code, type, message }: { code: string; type?: string; message: string }): string {
  const isLong = message.length > maxMessageLength;
  const text = (isLong ? `${message.slice(0, maxMessageLength).toWellFormed()}…` : message).replace(/\s+/g, " ").trim();
  return `${type ?? code}: ${text}${/[.!?…]$/.test(text) ? "" : "."}`;
}
