/** Quotes a text for a shell, so that it is one word without special characters. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
