/** A set of whole numbers from 0 up to a bound. Unions take a fraction of the time that those of a Set take. */
export class BitSet {
  readonly #words: Uint32Array;

  constructor(bound: number, values: Iterable<number> = []) {
    this.#words = new Uint32Array(Math.ceil(bound / 32));
    for (const value of values) this.add(value);
  }

  /** Answers whether it is new. */
  add(value: number): boolean {
    if (this.has(value)) return false;
    this.#words[value >>> 5] = this.#word(value >>> 5) | (1 << (value & 31));
    return true;
  }

  has(value: number): boolean {
    return (this.#word(value >>> 5) & (1 << (value & 31))) !== 0;
  }

  /** Takes over what `other` has, but what `except` has as well; answers whether anything is new. */
  addAll(other: BitSet, except?: BitSet): boolean {
    let isChanged = false;
    for (let index = 0; index < this.#words.length; index++) {
      const before = this.#word(index);
      const added = other.#word(index) & ~(except === undefined ? 0 : except.#word(index));
      const after = (before | added) >>> 0;
      this.#words[index] = after;
      isChanged ||= after !== before;
    }
    return isChanged;
  }

  /** In ascending order. */
  *values(): Generator<number> {
    for (const [index, word] of this.#words.entries()) {
      // Each turn takes the lowest bit away.
      for (let rest = word; rest !== 0; rest = (rest & (rest - 1)) >>> 0)
        yield index * 32 + 31 - Math.clz32(rest & -rest);
    }
  }

  /** Equal for sets of the same bound with the same values, and only for those. */
  get key(): string {
    return this.#words.join();
  }

  #word(index: number): number {
    return this.#words[index] ?? 0;
  }
}
