import { didYouMean } from "./closest-name.ts";

/** One problem of the input. `pointer` is an RFC 6901 JSON pointer into the input ("" is the whole input). */
export interface Problem {
  readonly pointer: string;
  /** The problem, and how to correct it. */
  readonly detail: string;
}

/** A problem that may have a more exact place in the text than its pointer gives. Offsets count UTF-16 units. */
export interface FoundProblem extends Problem, ExactPlace {}

export interface ExactPlace {
  readonly textOffset?: number | undefined;
  /** The offset in the string at the pointer, counted after the string's escapes were decoded. */
  readonly stringOffset?: number | undefined;
}

/** Appends one reference token to a JSON pointer, escaped as RFC 6901 asks. */
export function pointerTo(pointer: string, token: string | number): string {
  // Most tokens need no escape, and a large definition has tens of thousands of places.
  if (typeof token === "number" || !escaped.test(token)) return `${pointer}/${token}`;
  return `${pointer}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const escaped = /[~/]/;

export function tokensOf(pointer: string): string[] {
  const tokens = pointer.split("/").slice(1);
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path.reduce(pointerTo, "");
}

/** Quotes a name from a user's document, so that it stands out from the message's own words. Shortens the name to less than a line. */
export function quoted(name: string): string {
  const isLong = name.length > maxQuotedLength;
  return `\`${isLong ? `${name.slice(0, maxQuotedLength).toWellFormed()}…` : name}\``;
}

const maxQuotedLength = 80;

/** Ends a text with a full stop, unless it already ends like a sentence. A hint, for example, ends with a question mark. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Collects problems, up to a bound on their number and their total length. A document of half a megabyte can have a hundred thousand mistakes. Nobody
 * reads more than the first ones, and the size of the answer must be bounded. Code that reads a document stops when the list is full.
 */
export class ProblemList {
  readonly #maxProblems: number;
  readonly #problems: FoundProblem[] = [];
  #hintCount = 0;
  #characterCount = 0;

  constructor(maxProblems: number) {
    this.#maxProblems = maxProblems;
  }

  add(pointer: string, detail: string, at?: ExactPlace): void {
    if (this.isFull) return;
    this.#problems.push({ pointer, detail, ...at });
    this.#characterCount += pointer.length + detail.length;
  }

  /** Adds problems whose pointers are relative to `pointer`. */
  addAll(pointer: string, problems: readonly FoundProblem[]): void {
    for (const { pointer: inner, detail, ...at } of problems) this.add(pointer + inner, detail, at);
  }

  /**
   * A hint for the end of a sentence about an unknown name, such as "; did you mean `approve`?". Empty when there is none. The number of hints is
   * bounded, because finding the nearest of hundreds of names takes longer than finding out that a name is wrong.
   */
  hint(name: string, candidates: Iterable<string>): string {
    return ++this.#hintCount > maxHints ? "" : didYouMean(name, candidates);
  }

  get count(): number {
    return this.#problems.length;
  }

  get isFull(): boolean {
    return this.#problems.length >= this.#maxProblems || this.#characterCount >= maxCharacters;
  }

  /** Returns the collected problems. If the list is full, one more problem at the end says that there may be others. */
  toArray(): FoundProblem[] {
    if (!this.isFull) return [...this.#problems];
    const detail = `these are the first ${this.count}; there may be more`;
    return [...this.#problems, { pointer: "", detail }];
  }
}

const maxHints = 100;
/** Each pointer may contain a name of hundreds of kilobytes. A thousand such pointers would make an answer of hundreds of megabytes. */
const maxCharacters = 1_000_000;
