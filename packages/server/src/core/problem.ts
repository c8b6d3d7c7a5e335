import { didYouMean } from "./closest-name.ts";

/** One thing that is wrong with what was sent. `pointer` is an RFC 6901 JSON pointer into it ("" is the whole document). */
export interface Problem {
  readonly pointer: string;
  /** What is wrong, and what to do about it. */
  readonly detail: string;
}

/** Appends one reference token to a JSON pointer, escaped as RFC 6901 asks. */
export function pointerTo(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The JSON pointer of a path of keys and indexes. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.reduce(pointerTo, "");
}

/** A name out of somebody's document, set off from the message's own words and never longer than a line. */
export function quoted(name: string): string {
  const isLong = name.length > maxQuotedLength;
  return `\`${isLong ? `${name.slice(0, maxQuotedLength).toWellFormed()}…` : name}\``;
}

const maxQuotedLength = 80;

/** Ends a text with a full stop, unless it ends as a sentence already: hints are questions. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Collects problems up to a bound. A document of half a megabyte can hold a hundred thousand mistakes; nobody reads more than
 * the first ones, and the answer must not be larger than the question. Whoever reads a document stops when the list is full.
 */
export class ProblemList {
  readonly #maxProblems: number;
  readonly #problems: Problem[] = [];
  #hintCount = 0;

  constructor(maxProblems: number) {
    this.#maxProblems = maxProblems;
  }

  add(pointer: string, detail: string): void {
    if (!this.isFull) this.#problems.push({ pointer, detail });
  }

  /** Takes problems over whose pointers are relative to `pointer`. */
  addAll(pointer: string, problems: readonly Problem[]): void {
    for (const problem of problems) this.add(pointer + problem.pointer, problem.detail);
  }

  /**
   * "; did you mean `approve`?" for the end of a sentence about an unknown name, or nothing. Only so many are given: to find the
   * nearest of hundreds of names takes longer than the check that found the name wrong.
   */
  hint(name: string, candidates: Iterable<string>): string {
    return ++this.#hintCount > maxHints ? "" : didYouMean(name, candidates);
  }

  get count(): number {
    return this.#problems.length;
  }

  get isFull(): boolean {
    return this.#problems.length >= this.#maxProblems;
  }

  /** What was collected; when it was cut, the last one says so. */
  toArray(): Problem[] {
    if (!this.isFull) return [...this.#problems];
    const detail = `these are the first ${this.#maxProblems}; there may be more`;
    return [...this.#problems, { pointer: "", detail }];
  }
}

const maxHints = 100;
