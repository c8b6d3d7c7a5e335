import { ServiceError } from "./service-error.ts";

/** A time in milliseconds since 1970, by the database's clock. Times come with the facts, because `core` reads no clock. */
export type Timestamp = number;

/** Formats a time as RFC 3339 in UTC with milliseconds, like all times in answers. */
export function toTime(at: Timestamp): string {
  // All changes of one commit have the same time. A job of a few quick steps formats the same time about ten times, so the text is kept.
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() };
  return latest.text;
}

let latest = { at: 0, text: new Date(0).toISOString() };

/**
 * Parses text that has passed the format `date-time`. Throws for a time outside the years 1970 to 9999. An offset can move the last hours of 9999
 * into a year that no answer could show.
 */
export function parseTime(name: string, text: string): Timestamp {
  const at = momentOf(text);
  if (!(at >= 0 && at < endOfTime)) {
    const detail = "must be a time from 1970 to 9999";
    throw new ServiceError("ValidationError", `${name} ${detail}.`, { problems: [{ pointer: `/${name}`, detail }] });
  }
  return at;
}

/** Reads text that has passed the format `date-time`. A leap second counts as the second after it, as in POSIX: no computer's clock shows it. */
export function momentOf(text: string): Timestamp {
  const isLeapSecond = text.startsWith(":60", 16);
  const usual = isLeapSecond ? `${text.slice(0, 17)}59${text.slice(19)}` : text;
  return Date.parse(usual.toUpperCase()) + (isLeapSecond ? 1_000 : 0);
}

/** The earliest timestamp that is too late for an answer to show. */
export const endOfTime = Date.UTC(10_000, 0, 1);
