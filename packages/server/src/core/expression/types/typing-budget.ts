/**
 * Bounds what the types of a definition's expressions cost. It counts work and never time, so that whether a definition is valid depends on nothing but its
 * text. A unit is up to some 4 µs.
 */
export class TypingBudget {
  #remaining: number;

  constructor(units = 75_000) {
    this.#remaining = units;
  }

  /** Whether so much was asked that the types since then say nothing. */
  get isExhausted(): boolean {
    return this.#remaining < 0;
  }

  charge(units: number): void {
    this.#remaining -= units;
  }
}
