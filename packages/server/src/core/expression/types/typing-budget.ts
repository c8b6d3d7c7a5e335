/**
 * Bounds the cost of finding the types of a definition's expressions. It counts work and never time, so that only the text of a definition decides
 * whether it is valid. A unit takes up to about 4 µs.
 */
export class TypingBudget {
  #remaining: number;

  constructor(units = 75_000) {
    this.#remaining = units;
  }

  /** Whether the budget is used up. From then on, all types are unknown. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  charge(units: number): void {
    this.#remaining -= units;
  }
}
