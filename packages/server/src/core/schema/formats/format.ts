import { isEmail, isHostname, isIPv4, isIPv6, isUri, isUriReference } from "./address-format.ts";
import { isDate, isDateTime, isDuration, isTime } from "./time-format.ts";

/** The names that the keyword `format` may have. Each format is checked, in time that is linear in the length of the text. */
export type Format =
  | "date-time"
  | "date"
  | "time"
  | "duration"
  | "email"
  | "hostname"
  | "ipv4"
  | "ipv6"
  | "uri"
  | "uri-reference"
  | "uuid";

export function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name);
}

export const formatNames = (): Format[] => Object.keys(formats) as Format[];

export function hasFormat(text: string, format: Format): boolean {
  return formats[format].matches(text);
}

/** Describes a text of the format, to complete a message such as "must be …". */
export function describeFormat(format: Format): string {
  return formats[format].description;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const formats: Readonly<Record<Format, { readonly description: string; readonly matches: (text: string) => boolean }>> =
  {
    "date-time": { description: "a time as in 2026-01-31T12:00:00Z (RFC 3339)", matches: isDateTime },
    date: { description: "a date as in 2026-01-31 (RFC 3339)", matches: isDate },
    time: { description: "a time of a day with its offset, as in 12:00:00Z (RFC 3339)", matches: isTime },
    duration: { description: "a duration as in P1DT12H or PT30M (ISO 8601)", matches: isDuration },
    email: { description: "an e-mail address", matches: isEmail },
    hostname: { description: "a host name", matches: isHostname },
    ipv4: { description: "an IPv4 address as in 192.0.2.1", matches: isIPv4 },
    ipv6: { description: "an IPv6 address as in 2001:db8::1", matches: isIPv6 },
    uri: { description: "an absolute URI", matches: isUri },
    "uri-reference": { description: "a URI or a relative reference", matches: isUriReference },
    uuid: { description: "a UUID", matches: (text) => uuid.test(text) },
  };
