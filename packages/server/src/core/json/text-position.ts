/**
 * A place in a text, as editors count it. `line` and `column` count from 1, `offset` from 0. Column and offset count UTF-16 units, like JavaScript's
 * strings and the Language Server Protocol.
 */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** The positions of these offsets, in their order. The text is read once, however many there are. */
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

/** A carriage return alone also ends a line, as in editors, because JSON takes it as white space. */
const lineBreak = /\r\n?|\n/g;
