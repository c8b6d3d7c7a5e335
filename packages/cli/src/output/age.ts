/** Formats a span of time in days, hours or minutes: the largest unit that fits at least twice. A shorter span is formatted in seconds. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [unit, length] = units.find(([, length]) => seconds >= 2 * length) ?? ["s", 1];
  return `${Math.floor(seconds / length)} ${unit}`;
}

/** Formats how long ago `time` was, by this machine's clock. */
export function ageOf(time: string | undefined): string {
  return time === undefined ? "-" : age(Date.now() - Date.parse(time));
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;
