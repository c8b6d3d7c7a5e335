import { locale, texts } from "../../texts/texts.ts";
import { useNow } from "./use-now.ts";

interface TimeProps {
  /** The time as the API writes it, or in milliseconds since 1970. Undefined or null if there is none. */
  readonly at: string | number | undefined | null;
  /** True to show "3 minutes ago" instead of the date. The text is updated as time passes. */
  readonly isRelative?: boolean;
  /** True to show milliseconds, for things that happen many times in a second. */
  readonly hasMilliseconds?: boolean;
}

/** A time in the reader's zone. The title has the exact time in UTC. */
export function Time({ at, isRelative = false, hasMilliseconds = false }: TimeProps) {
  if (at === undefined || at === null) return <span className="soft">{texts.parts.noTime}</span>;
  const date = new Date(at);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={texts.parts.utc(iso.replace("T", " ").replace("Z", ""))}>
      {isRelative ? <Relative at={date.getTime()} /> : absolute(date, hasMilliseconds)}
    </time>
  );
}

function Relative({ at }: { readonly at: number }) {
  const now = useNow(Math.abs(Date.now() - at) < 90_000 ? 1_000 : 20_000);
  return relative(at, now);
}

/** The year is shown only if it is not the present year. */
function absolute(date: Date, hasMilliseconds: boolean): string {
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  if (hasMilliseconds) return (isThisYear ? exactThisYear : exactOtherYear).format(date);
  return (isThisYear ? thisYear : otherYear).format(date);
}

function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000);
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length || unit === "second")
      return relativeFormat.format(Math.trunc(seconds / length), unit);
  }
  return "";
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "narrow" });
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const day = { month: "short", day: "numeric" } as const;
const year = { year: "numeric" } as const;
const milliseconds = { fractionalSecondDigits: 3 } as const;
const exactThisYear = new Intl.DateTimeFormat(locale, { ...day, ...clock, ...milliseconds });
const exactOtherYear = new Intl.DateTimeFormat(locale, { ...year, ...day, ...clock, ...milliseconds });
const thisYear = new Intl.DateTimeFormat(locale, { ...day, ...clock });
const otherYear = new Intl.DateTimeFormat(locale, { ...year, ...day, ...clock });
