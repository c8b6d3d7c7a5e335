import type { Known } from "./known.ts";
import type { Schema } from "./node.ts";
import type { Outcome } from "./outcome.ts";
import type { TypeSet } from "./type-set.ts";

/** The comparison under way, as the rules need it that lead to other schemas (`compare.ts`). */
export interface Comparer {
  /** Whether a value that fits all of `from` fits `to`. */
  compare(from: readonly Schema[], to: Schema): Outcome;
  /** Whether those values of `from` fit that have one of the types. */
  compareTypes(from: Known, to: Schema, types: TypeSet): Outcome;
  /** Takes the price of something that costs as much as so many comparisons; false when there are not so many left. */
  charge(comparisons: number): boolean;
  /**
   * A comparison of its own that assumes nothing of a pair that it has not decided yet. An assumption that all values fit is good for
   * proving that others fit as well; it is good for nothing where it is turned round, by `not` or the condition of an `if`.
   */
  readonly withoutAssumptions: Comparer;
}
