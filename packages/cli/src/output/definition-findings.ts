import { widthOf } from "./table.ts";

/** An error or a warning in the text of a definition. */
export interface Finding {
  readonly pointer: string;
  readonly detail: string;
  readonly line: number;
  readonly column: number;
}

/**
 * A finding in the format of compilers, so that editors and terminals can link to its place: `order.json:9:7: error: …`, then the line with a mark
 * below it.
 */
export function describeFinding(file: string, text: string, kind: "error" | "warning", finding: Finding): string {
  const { pointer, detail, line, column } = finding;
  const what = pointer === "" ? detail : `${pointer} ${detail}`;
  return [
    `${file}:${line}:${column}: ${kind}: ${what}`,
    ...excerpt(text.split(lineBreak)[line - 1] ?? "", column),
  ].join("\n");
}

/** The error that ends a command when a definition is not valid. It lists the findings in the order of their lines. */
export function invalidDefinition(file: string, text: string, errors: readonly Finding[]): Error {
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const described = [...errors]
    .sort((one, other) => one.line - other.line || one.column - other.column)
    .map((finding) => describeFinding(file, text, "error", finding));
  return new Error([`The definition is not valid: ${count}.`, ...described].join("\n"));
}

/** The error of `--strict`, which treats a warning as an error. */
export function tooManyWarnings(file: string, count: number): string {
  return `${file} has ${count === 1 ? "1 warning" : `${count} warnings`}, which --strict does not allow.`;
}

/**
 * Returns as much of the line around the column as fits on most terminals, and a second line with a mark; nothing for an empty line. In the second
 * line, tabs stay tabs and wide characters count as two columns, so that the mark stands below its character.
 */
function excerpt(line: string, column: number): string[] {
  if (line.trim() === "") return [];
  const start = Math.max(0, column - 1 - charactersBefore);
  const shown = line.slice(start, start + shownCharacters);
  const before = line
    .slice(start, column - 1)
    .split("\t")
    .map((part) => " ".repeat(widthOf(part)))
    .join("\t");
  return [`  ${shown}`, `  ${before}^`];
}

const lineBreak = /\r\n?|\n/;
const charactersBefore = 60;
const shownCharacters = 100;
