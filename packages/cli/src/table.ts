/** The rows below their headings, in columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(inOneLine))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}

/** Names and values below each other. What is undefined is left out. */
export function list(entries: Readonly<Record<string, string | undefined>>, indent = "  "): string {
  const known = Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${indent}${name.padEnd(width)}  ${inOneLine(value)}`).join("\n");
}

/** A foreign text as a terminal can show it. Control characters could move other text, or make it look different. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escaped);
}

/** The text with its line breaks and tabs, and without other control characters. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
