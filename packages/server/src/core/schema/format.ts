/** The names that the keyword `format` may have. Each is asserted, in time linear in the text. */
export type Format = "date-time" | "date" | "email" | "uri" | "uuid";

export function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name);
}

export const formatNames = (): Format[] => Object.keys(formats) as Format[];

export function hasFormat(text: string, format: Format): boolean {
  return formats[format].matches(text);
}

/** For a message: "must be …". */
export function describeFormat(format: Format): string {
  return formats[format].description;
}

const formats: Readonly<Record<Format, { readonly description: string; readonly matches: (text: string) => boolean }>> =
  {
    "date-time": { description: "a time as in 2026-01-31T12:00:00Z (RFC 3339)", matches: isDateTime },
    date: { description: "a date as in 2026-01-31 (RFC 3339)", matches: isDate },
    email: { description: "an e-mail address", matches: isEmail },
    uri: { description: "an absolute URI", matches: isUri },
    uuid: { description: "a UUID", matches: (text) => uuid.test(text) },
  };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const date = /^(\d{4})-(\d{2})-(\d{2})$/;

function isDateTime(text: string): boolean {
  const match = dateTime.exec(text);
  if (match === null) return false;
  const [, day = "", hourText, minuteText, secondText, sign, offsetHourText = "0", offsetMinuteText = "0"] = match;
  const [hour, minute, second] = [Number(hourText), Number(minuteText), Number(secondText)];
  const [offsetHour, offsetMinute] = [Number(offsetHourText), Number(offsetMinuteText)];
  if (!isDate(day) || hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is inserted at the end of a day in UTC, and at no other time.
  const offset = (offsetHour * 60 + offsetMinute) * (sign === "-" ? -1 : 1);
  return (hour * 60 + minute - offset + minutesPerDay) % minutesPerDay === minutesPerDay - 1;
}

const minutesPerDay = 24 * 60;

function isDate(text: string): boolean {
  const match = date.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

const localPart = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const domainLabel = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;

/** An address that mail can be sent to: no quoted local parts, comments or IP literals. The lengths are those of RFC 5321. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64 || text.length > 254) return false;
  const labels = text.slice(at + 1).split(".");
  return localPart.test(text.slice(0, at)) && labels.every((label) => label.length <= 63 && domainLabel.test(label));
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const notInUri = /[^A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** The characters of RFC 3986, a scheme, and one fragment at most. Searches for what is wrong, so the length does not matter. */
function isUri(text: string): boolean {
  const hasOneFragment = text.indexOf("#") === text.lastIndexOf("#");
  return scheme.test(text) && hasOneFragment && !notInUri.test(text) && !brokenEscape.test(text);
}
