import { type Pattern, problemOfPattern, readPattern } from "./pattern.ts";

/**
 * The patterns of one document, with each text once. Their total work is bounded, because one value may meet all of them, and they are then compiled
 * while every other request waits. No bound applies to the patterns of a registered version.
 */
export class PatternBook {
  readonly #isRegistered: boolean;
  readonly #patterns = new Map<string, Pattern>();
  #workLeft = maxPatternWork;
  #checksLeft = maxNameChecks;

  constructor(isRegistered: boolean) {
    this.#isRegistered = isRegistered;
  }

  read(source: string): Pattern | { readonly problem: string } {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    if (!this.#isRegistered && source.length > maxPatternLength) {
      return { problem: `is longer than ${maxPatternLength} characters` };
    }
    const pattern = readPattern(source);
    const problem = this.#isRegistered ? undefined : problemOfPattern(pattern, this.#workLeft);
    if (problem !== undefined) return { problem };
    this.#workLeft -= pattern.work;
    this.#patterns.set(source, pattern);
    return pattern;
  }

  /** Whether the pattern matches the name of a declared property. */
  matches(pattern: Pattern, name: string): boolean {
    if (this.isSpent) return false;
    const matcher = pattern.matcher();
    this.#checksLeft -= matcher.costOf(name.length);
    return !this.isSpent && matcher.matches(name);
  }

  /** Whether the bound on matched names is used up, so that a new definition is refused. */
  get isSpent(): boolean {
    return !this.#isRegistered && this.#checksLeft < 0;
  }
}

/** The characters of a pattern's text, in UTF-16 units. */
export const maxPatternLength = 1_000;
/** The bound counts checks, some 5 ms: two hundred declared properties beside a hundred patterns. */
const maxNameChecks = 200_000;
/** At most 35 ms of compiling (`npm run bench -- definitions`): 300 usual patterns. */
export const maxPatternWork = 10_000;
