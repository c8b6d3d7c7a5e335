/** The size of a pattern, computed from its text. Compiling the pattern to find out would cost the very work that is to be bounded. */
export interface PatternSize {
  /** Instructions of the compiled pattern, with its repetitions written out. */
  readonly instructions: number;
  /** Ranges of characters that its instructions hold. */
  readonly ranges: number;
  /** The ranges that the pattern's text names. Compiling the pattern has to sort them. */
  readonly readRanges: number;
  /** The characters whose upper and lower case the parser looks up one by one, because of `(?i)`. */
  readonly foldedCharacters: number;
}

/**
 * Computes an upper bound. For example, `([ab]{2}c){10}` has thirty characters and classes, and the two ends of ten groups. The content of a
 * repetition counts as often as RE2 writes it out.
 */
export function sizeOfPattern(source: string): PatternSize {
  const isFolded = foldingFlag.test(source);
  const enclosing: Size[] = [];
  let total = empty;
  let last = empty;
  let readRanges = 0;
  let foldedCharacters = 0;
  for (let position = 0; position < source.length; ) {
    const length = elementLength(source, position);
    const element = source.slice(position, position + length);
    position += length;
    if (element === "(") {
      enclosing.push(plus(total, last));
      total = empty;
      last = groupEnds;
    } else if (element === ")") {
      last = plus(total, last);
      total = enclosing.pop() ?? empty;
    } else if (flags.test(element)) {
      // A flag adds nothing to the sums. A repetition after the flag applies to the part before the flag.
    } else if (repetition.test(element)) {
      last = times(element.includes(",") ? plus(last, branch) : last, repeatCount(element));
    } else if ("*+?|".includes(element)) last = plus(last, branch);
    else {
      const ranges = rangesOf(element, isFolded);
      readRanges += ranges;
      total = plus(total, last);
      last = { instructions: 1, ranges };
      if (isFolded && element.startsWith("[")) foldedCharacters += charactersIn(element);
    }
  }
  const whole = enclosing.reduce(plus, plus(total, last));
  return { ...plus(whole, ends), readRanges, foldedCharacters };
}

interface Size {
  readonly instructions: number;
  readonly ranges: number;
}

const empty: Size = { instructions: 0, ranges: 0 };
/** A group costs two instructions for its ends, and at least one for its content, even if that is empty. */
const groupEnds: Size = { instructions: 3, ranges: 0 };
const branch: Size = { instructions: 2, ranges: 0 };
/** Every pattern also has these three instructions: a failure, a match and a start. */
const ends: Size = { instructions: 3, ranges: 0 };

function plus(one: Size, other: Size): Size {
  return { instructions: one.instructions + other.instructions, ranges: one.ranges + other.ranges };
}

function times({ instructions, ranges }: Size, count: number): Size {
  return { instructions: instructions * count, ranges: ranges * count };
}

/**
 * `(?i)`, `(?si:` and similar flags, at any place. Groups decide to which part of the pattern a flag applies. To keep this simple, the flag counts
 * for the whole pattern.
 */
const foldingFlag = /\(\?[imsU]*i/;
const flags = /^\(\?[imsU-]+\)$/;
const flagsHere = /\(\?[imsU-]+\)/y;
const repetition = /^\{\d+(?:,\d*)?\}$/;
const repetitionHere = /\{\d+(?:,\d*)?\}/y;

function elementLength(source: string, position: number): number {
  switch (source[position]) {
    case "\\":
      return escapeLength(source, position);
    case "[":
      return classLength(source, position);
    case "{":
      return lengthHere(repetitionHere, source, position) ?? 1;
    case "(":
      return lengthHere(flagsHere, source, position) ?? 1;
    default:
      return 1;
  }
}

/** The braces in a class such as `\p{Greek}`, or in a character such as `\x{10FFFF}`, are not a repetition. */
function escapeLength(source: string, position: number): number {
  return lengthHere(namedEscapeHere, source, position) ?? 2;
}

/** The length of the text that the sticky expression matches at the position; undefined when it does not match there. */
function lengthHere(expression: RegExp, source: string, position: number): number | undefined {
  expression.lastIndex = position;
  return expression.test(source) ? expression.lastIndex - position : undefined;
}

const namedEscapeHere = /\\(?:[pPx]\{[^}]*\}|[pP][^{])/y;

/** A `]` at the beginning of a class, or at the end of a named class in it, does not close the class. */
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

/**
 * An upper bound on the ranges of one character or class. Each character of a class may be a range of its own. With `(?i)`, each stands for a few
 * ranges.
 */
function rangesOf(element: string, isFolded: boolean): number {
  const unicodeClassCount = element.match(unicodeClass)?.length ?? 0;
  return (
    unicodeClassCount * rangesPerUnicodeClass +
    Math.min((element.length + 1) * (isFolded ? rangesPerFold : 1), maxFoldedRanges)
  );
}

const unicodeClass = /\\[pP]/g;
/** The largest class that RE2 knows, `\p{Alphabetic}`, has 762 ranges. */
const rangesPerUnicodeClass = 800;
const rangesPerFold = 4;
const maxFoldedRanges = 3_000;

/** Returns the number of characters in the ranges of a class. An end of a range that is written as an escape may be any character. */
function charactersIn(element: string): number {
  let count = 0;
  for (const [, low = "", high = ""] of element.matchAll(range)) {
    const isPlain = !low.startsWith("\\") && !high.startsWith("\\");
    const width = isPlain ? (high.codePointAt(0) ?? 0) - (low.codePointAt(0) ?? 0) + 1 : maxFold;
    count += Math.min(Math.max(width, 1), maxFold);
  }
  return count;
}

const range = /(\\.|[^\\])-(\\|[^\]])/gsu;
/** No character beyond this one has an upper and a lower case. */
const maxFold = 0x1e944;
