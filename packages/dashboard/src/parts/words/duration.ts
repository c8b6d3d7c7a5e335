import { locale } from "../../texts/texts.ts";

/** Formats a duration in at most two units: "3 ms", "1.4 s", "2 min 5 s", "3 h 12 min", "2 d 4 h". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return amount(Math.max(0, Math.round(ms)), "ms");
  if (ms < 10_000) return amount(Math.round(ms / 100) / 10, "s");
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return amount(seconds, "s");
  const [unit, length, nextUnit, nextLength] = steps.find(([, , , , below]) => seconds < below) ?? steps[2];
  const whole = Math.floor(seconds / length);
  const rest = Math.floor((seconds % length) / nextLength);
  return rest === 0 ? amount(whole, unit) : `${amount(whole, unit)} ${amount(rest, nextUnit)}`;
}

const steps = [
  ["min", 60, "s", 1, 3_600],
  ["h", 3_600, "min", 60, 86_400],
  ["d", 86_400, "h", 3_600, Number.POSITIVE_INFINITY],
] as const;

/** The text has the same form as in the service's sentences, which are shown on the same page. */
function amount(value: number, unit: string): string {
  return `${value.toLocaleString(locale)} ${unit}`;
}
