import type { Schema } from "../node.ts";
import type { TypeSet } from "../type-set.ts";
import type { Known } from "./known.ts";
import type { Outcome } from "./outcome.ts";

/** The part of the running comparison (`compare.ts`) that is needed by rules with inner schemas. */
export interface Comparer {
  /** Compares with `to` the values that fit all schemas of `from`. */
  compare(from: readonly Schema[], to: Schema): Outcome;
  /** Compares only the values of `from` that have one of the types. */
  compareTypes(from: Known, to: Schema, types: TypeSet): Outcome;
  /** Takes the cost of this many comparisons from the budget. Returns false when not enough is left. */
  charge(comparisons: number): boolean;
  /**
   * A separate comparison that makes no assumptions about undecided pairs. The assumption that a pair fits may be used to prove that values fit, but
   * not to prove that they do not fit. So it must not be used where the result is inverted, as by `not` or by the condition of an `if`.
   */
  readonly withoutAssumptions: Comparer;
}
