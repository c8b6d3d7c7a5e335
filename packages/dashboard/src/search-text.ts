/**
 * Reads the part of a page's address after the question mark, with all values as texts. The router's own parser reads `7` as a number and `true` as a
 * boolean, and puts such texts in quotes, but an event may have such a name.
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
