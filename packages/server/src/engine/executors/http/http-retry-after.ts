/** Reads the wait that a `Retry-After` header asks for, as seconds or as a date. Undefined for anything else, and for a date in the past. */
export function retryAfterMsOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!httpDate.test(text)) return undefined;
  const waitMs = Date.parse(text) - now;
  return waitMs > 0 ? waitMs : undefined;
}

/** The format of an HTTP date. It is checked first, because `Date.parse` alone accepts much more: it reads -5 as a day in May 2001. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
