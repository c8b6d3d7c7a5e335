/** Returns the position of the brace that closes the expression that begins at `start`; undefined when there is none. */
export function closingBrace(source: string, start: number): number | undefined {
  let depth = 0;
  for (let position = codeFrom(source, start); position < source.length; position = codeFrom(source, position + 1)) {
    const character = source[position];
    if (character === "{") depth++;
    else if (character === "}" && depth-- === 0) return position;
  }
  return undefined;
}

/**
 * Returns the position at which more than `maxCount` signs (`!` or `-`) have followed each other; undefined when there is none. The library's parser
 * recurses for each sign, and has no bound of its own.
 */
export function tooManySigns(source: string, maxCount: number): number | undefined {
  // Few expressions have this many signs at all, and walking through thousands of expressions takes time.
  if ((source.match(/[!-]/g)?.length ?? 0) <= maxCount) return undefined;
  let count = 0;
  for (let position = codeFrom(source, 0); position < source.length; position = codeFrom(source, position + 1)) {
    const character = source[position] as string;
    if (character === "!" || character === "-") count++;
    else if (!" \t\r\n".includes(character)) count = 0;
    if (count > maxCount) return position;
  }
  return undefined;
}

/**
 * Returns the first position, from `start` on, that is outside strings and comments, or a position after the end. It follows the parser's rules. A
 * string begins and ends with one or three single or double quotes. In a string, the character after a backslash belongs to the string. A comment
 * goes from `//` to the end of the line. This is called for every character of every expression, so it is not a generator, which would take five
 * times as long.
 */
function codeFrom(source: string, start: number): number {
  let position = start;
  while (position < source.length) {
    const character = source[position];
    if (character === '"' || character === "'") position = endOfString(source, position);
    else if (character === "/" && source[position + 1] === "/") position = endOfLine(source, position);
    else break;
  }
  return position;
}

/** The position after a string that begins at `start`. */
function endOfString(source: string, start: number): number {
  const quote = source[start] as string;
  const delimiter = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  let position = start + delimiter.length;
  while (position < source.length && !source.startsWith(delimiter, position)) {
    position += source[position] === "\\" ? 2 : 1;
  }
  return position + delimiter.length;
}

/** The position after a comment that begins at `start`. */
function endOfLine(source: string, start: number): number {
  const end = source.indexOf("\n", start);
  return end === -1 ? source.length : end + 1;
}
