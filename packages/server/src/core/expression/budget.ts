import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Matcher } from "../schema/patterns/matcher.ts";
import { problemOfPattern, readPattern } from "../schema/patterns/pattern.ts";
import { maxPatternLength } from "../schema/patterns/pattern-book.ts";
import { fail } from "./failure.ts";

/**
 * Bounds the cost of one template, or of one `choose`. It counts work and never time, so that the same values give the same outcome on every machine.
 * A unit of work takes at most about 40 ns, whatever the work is (`test/core/expression/costs.matrix.test.ts` tries the most expensive cases).
 */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #matchers = new Map<string, Matcher>();
  #work = 0;
  #size = 0;

  constructor(limits: BudgetLimits = defaultLimits) {
    this.#limits = limits;
  }

  /** The work that has been spent so far, in units. */
  get work(): number {
    return this.#work;
  }

  /** The size of the output so far, in characters and members. */
  get size(): number {
    return this.#size;
  }

  spend(units: number): void {
    this.#work += units;
    if (this.#work > this.#limits.maxWork) {
      fail(
        `takes more than ${this.#limits.maxWork} units of work; use less data, or divide the work among several steps`,
        "budget",
      );
    }
  }

  /** Charges for work on every character of a text. The default of eight characters for one unit fits the fastest work. */
  spendOnText(length: number, charactersPerUnit = 8): void {
    this.spend(1 + Math.ceil(length / charactersPerUnit));
  }

  /** Counts a value that becomes part of the output, `depth` levels deep in it. */
  output(value: JsonValue, depth: number): void {
    if (typeof value === "string") this.#grow(value.length);
    else if (typeof value !== "object" || value === null) this.#grow(1);
    else {
      if (depth >= this.#limits.maxDepth) {
        fail(`gives a value that is nested more than ${this.#limits.maxDepth} levels deep`, "budget");
      }
      this.#grow(2);
      if (Array.isArray(value)) this.#items(value, depth + 1);
      else this.#properties(value, depth + 1);
    }
  }

  /** Returns the matcher of a pattern. The first use of a pattern in a budget pays for compiling it, even if it was compiled before. */
  matcher(source: string): Matcher {
    const known = this.#matchers.get(source);
    if (known !== undefined) return known;
    this.spend(workToReadPattern + Math.min(source.length, maxPatternLength) * workPerPatternCharacter);
    // The message shows no details, because they quote the pattern, which may come from the data. A problem with a literal is reported at
    // registration.
    if (problemOfSource(source) !== undefined)
      fail("has a pattern that is not a regular expression in RE2 syntax, or is too large");
    const pattern = readPattern(source);
    this.spend(Math.ceil(pattern.work * workPerPatternWork));
    const matcher = pattern.matcher();
    this.#matchers.set(source, matcher);
    return matcher;
  }

  #items(items: readonly JsonValue[], depth: number): void {
    this.spend(1 + items.length);
    for (const item of items) this.output(item, depth);
  }

  #properties(object: JsonObject, depth: number): void {
    const keys = Object.keys(object);
    this.spend(2 + keys.length * unitsPerKey);
    for (const key of keys) {
      this.#grow(key.length);
      this.output(object[key] as JsonValue, depth);
    }
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.#size > this.#limits.maxSize) {
      fail(
        `gives a value with more than ${this.#limits.maxSize} characters and members; give a smaller value`,
        "budget",
      );
    }
  }
}

/** Returns the problem of a pattern; undefined when there is none. */
export function problemOfSource(source: JsonValue | undefined): string | undefined {
  if (typeof source !== "string") return undefined;
  if (source.length > maxPatternLength) return `a pattern of more than ${maxPatternLength} characters`;
  const problem = problemOfPattern(readPattern(source), maxPatternWork);
  return problem === undefined ? undefined : `a pattern that ${problem}`;
}

export interface BudgetLimits {
  /** Units of work. */
  readonly maxWork: number;
  /** Characters and members of the output. */
  readonly maxSize: number;
  /** Levels of the output. */
  readonly maxDepth: number;
}

export const defaultLimits: BudgetLimits = { maxWork: 1_000_000, maxSize: 4_000_000, maxDepth: 64 };

/**
 * Listing the keys of an object takes up to 140 ns for each key, because a large object keeps its keys in a table, which is sorted each time they are
 * listed.
 */
export const unitsPerKey = 8;
/** Listing and sorting the keys takes up to 560 ns for each key. */
export const unitsPerSortedKey = 16;

const workToReadPattern = 200;
const workPerPatternCharacter = 30;
/** The maximum `work` of one pattern. Compiling it then takes at most 900,000 units, so that the budget has some left for the match. */
const maxPatternWork = 4_500;
/** The units of the budget for one unit of a pattern's `work`. Compiling takes up to 3.5 µs for each unit of `work`. */
const workPerPatternWork = 200;
