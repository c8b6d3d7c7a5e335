/**
 * The part of a page's address behind the question mark, with all values as texts. The router's own way reads `7` as a number and `true` as
 * a truth, and writes quotes around a text that looks like one; an event may be called either.
 */
export function parseSearchText(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function writeSearchText(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
