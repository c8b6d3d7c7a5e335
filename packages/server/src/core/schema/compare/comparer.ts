import type { Schema } from "../node.ts";
import type { TypeSet } from "../type-set.ts";
import type { Known } from "./known.ts";
import type { Outcome } from "./outcome.ts";

/** The comparison under way, as the rules need it that lead to other schemas (`compare.ts`). */
export interface Comparer {
  /** Whether a value that fits all of `from` fits `to`. */
  compare(from: readonly Schema[], to: Schema): Outcome;
  /** Whether those values of `from` fit that have one of the types. */
  compareTypes(from: Known, to: Schema, types: TypeSet): Outcome;
  /** Takes the cost of this many comparisons from the budget; false when not enough is left. */
  charge(comparisons: number): boolean;
  /**
   * A separate comparison that makes no assumptions about undecided pairs. The assumption that all values fit may prove that others fit too, but it
   * proves nothing where the result is inverted, as by `not` or the condition of an `if`.
   */
  readonly withoutAssumptions: Comparer;
}
