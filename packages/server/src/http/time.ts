import type { Timestamp } from "../core/job-state.ts";
import { ServiceError } from "../core/service-error.ts";

/** RFC 3339 in UTC with milliseconds, as all times in answers are. */
export function toTime(at: Timestamp): string {
  // What happened in one commit bears one time: a job of a few quick steps shows it ten times over.
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() };
  return latest.text;
}

let latest = { at: 0, text: new Date(0).toISOString() };

/** Of text that has passed the format `date-time`. The store's calendar has no year 0. */
export function parseTime(name: string, text: string): Timestamp {
  const at = Date.parse(text);
  if (Number.isNaN(at) || at < Date.UTC(1970, 0, 1) || text.startsWith("+")) {
    const detail = "must be a time from 1970 to 9999";
    throw new ServiceError("ValidationError", `${name} ${detail}.`, { problems: [{ pointer: `/${name}`, detail }] });
  }
  return at;
}
