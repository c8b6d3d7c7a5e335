/**
 * Reads the part of a page's address after the question mark, with all values as texts. The router's own functions are not used: they read `7` as a
 * number and `true` as a boolean, and write texts like these in quotes. But an event may be called `7` or `true`.
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
