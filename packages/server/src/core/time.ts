import { ServiceError } from "./service-error.ts";

/** Milliseconds since 1970 by the database's clock. Times come with the facts, because `core` reads no clock. */
export type Timestamp = number;

/** Formats a time as RFC 3339 in UTC with milliseconds, like all times in answers. */
export function toTime(at: Timestamp): string {
  // All changes of one commit have the same time, so a job of a few quick steps formats one time about ten times.
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() };
  return latest.text;
}

let latest = { at: 0, text: new Date(0).toISOString() };

/** Parses text that has passed the format `date-time`. An offset can move the last hours of 9999 into a year that no answer could show. */
export function parseTime(name: string, text: string): Timestamp {
  const at = Date.parse(text);
  if (!(at >= 0 && at < endOfTime)) {
    const detail = "must be a time from 1970 to 9999";
    throw new ServiceError("ValidationError", `${name} ${detail}.`, { problems: [{ pointer: `/${name}`, detail }] });
  }
  return at;
}

/** The first instant that no answer can show. */
export const endOfTime = Date.UTC(10_000, 0, 1);
