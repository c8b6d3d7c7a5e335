import { createRequire } from "node:module";

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(inOneLine))];
  const widths = headings.map((_, column) => all.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), 0));
  const line = (row: readonly string[]) => row.map((cell, column) => padded(cell, widths[column] ?? 0)).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}

/** Formats pairs of names and values, one below the other. Undefined values are left out. */
export function list(entries: Readonly<Record<string, string | undefined>>, indent = "  "): string {
  const known = Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${indent}${name.padEnd(width)}  ${inOneLine(value)}`).join("\n");
}

/** Returns how many columns of a terminal a text takes. East Asian characters and emoji take two columns each, and combining marks none. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  // Loading the module takes a tenth of a short command's time, and most commands do without it.
  const { default: stringWidth } = createRequire(import.meta.url)("string-width") as typeof import("string-width");
  return stringWidth(text);
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** Returns as much of the beginning of a text as fits into this number of columns of a terminal. */
export function cut(text: string, columns: number): string {
  if (isPlain(text)) return text.slice(0, columns);
  let shown = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    shown += segment;
  }
  return shown;
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - widthOf(cell)));
}

/** Returns text from outside in a form that is safe to print on a terminal. Control characters could move other text, or change how it looks. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escaped);
}

/** Returns the text with its line breaks and tabs. Every other control character is replaced by its escape, such as `\u001b`. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
