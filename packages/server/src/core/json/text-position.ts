/**
 * A place in a text, in the form in which editors count it. `line` and `column` count from 1, and `offset` from 0. Column and offset count UTF-16
 * units, as JavaScript's strings and the Language Server Protocol do.
 */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** The positions of these offsets, in the order of `offsets`. The text is read only once, however many offsets there are. */
export function positionsOf(text: string, offsets: readonly number[]): TextPosition[] {
  const positions = new Map<number, TextPosition>();
  lineBreak.lastIndex = 0;
  let line = 1;
  let lineStart = 0;
  let next = lineBreak.exec(text);
  for (const offset of [...offsets].sort((one, other) => one - other)) {
    while (next !== null && lineBreak.lastIndex <= offset) {
      line++;
      lineStart = lineBreak.lastIndex;
      next = lineBreak.exec(text);
    }
    positions.set(offset, { line, column: offset - lineStart + 1, offset });
  }
  return offsets.flatMap((offset) => positions.get(offset) ?? []);
}

export function describePosition({ line, column }: TextPosition): string {
  return `line ${line}, column ${column}`;
}

/** A carriage return alone also ends a line, as in editors, because it is white space in JSON. */
const lineBreak = /\r\n?|\n/g;
