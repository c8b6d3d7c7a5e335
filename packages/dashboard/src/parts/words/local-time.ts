/** Tells whether a value from the page's address is a time as the API writes it. */
export function isTime(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
}

/** Formats a time for a `datetime-local` field: by the reader's own clock, without a zone. */
export function toLocal(time: string | undefined): string {
  const at = time === undefined ? Number.NaN : Date.parse(time);
  if (Number.isNaN(at)) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the time of a `datetime-local` field. Undefined while the user has not filled in the whole field, because its text is empty then. */
export function fromLocal(text: string): string | undefined {
  const at = Date.parse(text);
  return text === "" || Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
