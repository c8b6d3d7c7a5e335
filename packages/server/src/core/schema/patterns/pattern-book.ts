import { type Pattern, problemOfPattern, readPattern } from "./pattern.ts";

/**
 * The different patterns of one document. The total work of compiling them is bounded, because one value may need all of them, and every other
 * request waits while they are compiled. No bound applies to the patterns of a registered version.
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

  /** Whether the bound on matching names is used up. A new definition is then refused. */
  get isSpent(): boolean {
    return !this.#isRegistered && this.#checksLeft < 0;
  }
}

/** The maximum length of a pattern's text, in UTF-16 units. */
export const maxPatternLength = 1_000;
/** The bound on the checks for matching names: about 5 ms. It is enough for two hundred declared properties with a hundred patterns. */
const maxNameChecks = 200_000;
/** Compiling patterns of this much work takes at most 35 ms (`npm run bench -- definitions`). It is enough for 300 usual patterns. */
export const maxPatternWork = 10_000;
