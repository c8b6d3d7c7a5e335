/**
 * Bounds the cost of the types of a definition's expressions. It counts work and never time, so that the validity of a definition depends only on its
 * text. A unit is up to some 4 µs.
 */
export class TypingBudget {
  #remaining: number;

  constructor(units = 75_000) {
    this.#remaining = units;
  }

  /** Whether the budget is used up, so that later types say nothing. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  charge(units: number): void {
    this.#remaining -= units;
  }
}
