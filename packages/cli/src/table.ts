/** The rows below their headings, in columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}

/** Names and values below each other. What is undefined is left out. */
export function list(entries: Readonly<Record<string, string | undefined>>, indent = "  "): string {
  const known = Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${indent}${name.padEnd(width)}  ${value}`).join("\n");
}
