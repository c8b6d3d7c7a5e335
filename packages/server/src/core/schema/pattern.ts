import { RE2Set } from "re2js";

/**
 * A regular expression of a stranger, in RE2 syntax: it is matched in time linear in the text, unlike JavaScript's own, of
 * which twenty-seven characters can take seconds.
 */
export interface Pattern {
  readonly source: string;
  /** How many characters and classes it has once its repetitions are written out: the other factor of the time it takes. */
  readonly size: number;
  /** Whether it matches anywhere in the text, as JSON Schema wants it. */
  readonly matches: (text: string) => boolean;
}

/**
 * Linear time is length times size, some 7 ns for each character of the text and element of the pattern at worst: a thousand
 * repetitions on a megabyte would hold the process for seconds. Lengths are what `maxLength` is for.
 */
const maxPatternSize = 500;
const maxSourceLength = 1_000;

/**
 * The matcher remembers states that it met, 8 MiB by default. With so many patterns in so many definitions it gets little; a
 * usual pattern needs far less. (`RE2Set` is the part of re2js that lets the memory be set; it is the fastest one, too.)
 */
const matcherMemoryBytes = 128 * 1024;

export function compilePattern(source: string): Pattern | { readonly problem: string } {
  if (source.length > maxSourceLength) return { problem: `is longer than ${maxSourceLength} characters` };
  if (source.includes("\\Q")) return { problem: "has `\\Q`; escape the characters one by one" };
  const size = writtenOutSize(source);
  if (size > maxPatternSize) {
    const detail = `${size} characters and classes once its repetitions are written out; ${maxPatternSize} are allowed`;
    return { problem: `has ${detail} (bound lengths by \`maxLength\`)` };
  }
  try {
    const matcher = new RE2Set(RE2Set.UNANCHORED, 0, matcherMemoryBytes);
    matcher.add(source);
    matcher.compile();
    return { source, size, matches: (text) => matcher.match(text).length > 0 };
  } catch (error) {
    return { problem: `is no regular expression in RE2 syntax: ${reason(error)}` };
  }
}

function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/^error parsing regexp: /, "")
    .slice(0, 200)
    .toWellFormed();
}

/**
 * The number of characters and classes that a pattern stands for: `([ab]{2}c){10}` has thirty. Known before it is compiled, since
 * compiling writes the repetitions out. RE2 itself bounds what is nested.
 */
function writtenOutSize(source: string): number {
  const enclosing: number[] = [];
  let total = 0;
  let last = 0;
  for (let position = 0; position < source.length; ) {
    const length = elementLength(source, position);
    const element = source.slice(position, position + length);
    position += length;
    if (element === "(") {
      enclosing.push(total + last);
      total = 0;
      last = 0;
    } else if (element === ")") {
      last = total + last;
      total = enclosing.pop() ?? 0;
    } else if (repetition.test(element)) last *= repeatCount(element);
    else if (!"*+?|".includes(element)) {
      total += last;
      last = 1;
    }
  }
  return enclosing.reduce((sum, size) => sum + size, total + last);
}

const repetition = /^\{\d+(?:,\d*)?\}$/;
const repetitionHere = /\{\d+(?:,\d*)?\}/y;

function elementLength(source: string, position: number): number {
  switch (source[position]) {
    case "\\":
      return escapeLength(source, position);
    case "[":
      return classLength(source, position);
    case "{":
      repetitionHere.lastIndex = position;
      return repetitionHere.test(source) ? repetitionHere.lastIndex - position : 1;
    default:
      return 1;
  }
}

/** Classes such as `\p{Greek}` and characters such as `\x{10FFFF}` have their name in braces, which repeat nothing. */
function escapeLength(source: string, position: number): number {
  namedEscapeHere.lastIndex = position;
  return namedEscapeHere.test(source) ? namedEscapeHere.lastIndex - position : 2;
}

const namedEscapeHere = /\\[pPx]\{[^}]*\}/y;

/** A `]` that stands first in a class, and one that ends a named class in it, do not close it. */
function classLength(source: string, start: number): number {
  let position = start + 1;
  if (source[position] === "^") position++;
  if (source[position] === "]") position++;
  while (position < source.length && source[position] !== "]") {
    if (source[position] === "\\") position += 2;
    else if (source.startsWith("[:", position) && source.includes(":]", position)) {
      position = source.indexOf(":]", position) + 2;
    } else position++;
  }
  return position + 1 - start;
}

function repeatCount(repetitionText: string): number {
  return Math.max(...(repetitionText.match(/\d+/g) ?? []).map(Number));
}
