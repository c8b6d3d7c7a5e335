import { type Pattern, problemOfPattern, readPattern } from "./pattern.ts";

/**
 * The patterns of one document, each text once. Together they are bounded too: a value may meet all of them, and then they are compiled
 * while everybody waits. Those of a version that is registered are taken as they are.
 */
export class PatternBook {
  readonly #isRegistered: boolean;
  readonly #patterns = new Map<string, Pattern>();
  #workLeft = maxPatternWork;

  constructor(isRegistered: boolean) {
    this.#isRegistered = isRegistered;
  }

  read(source: string): Pattern | { readonly problem: string } {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    if (!this.#isRegistered && source.length > maxSourceLength) {
      return { problem: `is longer than ${maxSourceLength} characters` };
    }
    const pattern = readPattern(source);
    const problem = this.#isRegistered ? undefined : problemOfPattern(pattern, this.#workLeft);
    if (problem !== undefined) return { problem };
    this.#workLeft -= pattern.work;
    this.#patterns.set(source, pattern);
    return pattern;
  }
}

const maxSourceLength = 1_000;
/** At most 35 ms of compiling (`npm run bench -- definitions`): 300 usual patterns. */
export const maxPatternWork = 10_000;
