/**
 * Sets of whole numbers from 0 up to, but not including, a bound. Each row is one set, and all rows are in one block of memory. They are for analyses
 * that unite the sets of neighbouring steps until nothing changes. Hundreds of `Set`s would take several times as much time and memory.
 */
export class BitRows {
  readonly #words: Uint32Array;
  readonly #wordsPerRow: number;

  constructor(rowCount: number, bound: number) {
    this.#wordsPerRow = Math.ceil(bound / 32);
    this.#words = new Uint32Array(rowCount * this.#wordsPerRow);
  }

  has(row: number, value: number): boolean {
    return (this.#word(this.#index(row, value)) & (1 << (value & 31))) !== 0;
  }

  /** Adds a value to a row. Returns whether the value is new in the row. */
  add(row: number, value: number): boolean {
    if (this.has(row, value)) return false;
    const index = this.#index(row, value);
    this.#words[index] = this.#word(index) | (1 << (value & 31));
    return true;
  }

  /**
   * Adds the values of another row, except those that the row `except` has. Returns whether any value was added. Both other rows
   * may belong to another `BitRows`.
   */
  addRow(row: number, from: RowOf, except?: RowOf): boolean {
    const [words, added] = [this.#words, from.rows.#words];
    const start = row * this.#wordsPerRow;
    const fromStart = from.row * this.#wordsPerRow;
    const exceptStart = (except?.row ?? 0) * this.#wordsPerRow;
    let isChanged = false;
    for (let offset = 0; offset < this.#wordsPerRow; offset++) {
      const before = words[start + offset] as number;
      const masked = except === undefined ? 0 : except.rows.#word(exceptStart + offset);
      const after = (before | ((added[fromStart + offset] as number) & ~masked)) >>> 0;
      if (after === before) continue;
      words[start + offset] = after;
      isChanged = true;
    }
    return isChanged;
  }

  /** Removes the values that the other row does not have. */
  keepRow(row: number, kept: RowOf): void {
    const start = row * this.#wordsPerRow;
    const keptStart = kept.row * this.#wordsPerRow;
    for (let offset = 0; offset < this.#wordsPerRow; offset++) {
      this.#words[start + offset] = this.#word(start + offset) & kept.rows.#word(keptStart + offset);
    }
  }

  /** Returns the values of a row in ascending order. */
  values(row: number): number[] {
    const values: number[] = [];
    for (let offset = 0; offset < this.#wordsPerRow; offset++) {
      // `rest & (rest - 1)` is `rest` without its lowest bit.
      for (let rest = this.#word(row * this.#wordsPerRow + offset); rest !== 0; rest = (rest & (rest - 1)) >>> 0) {
        values.push(offset * 32 + 31 - Math.clz32(rest & -rest));
      }
    }
    return values;
  }

  /** Returns a key that is equal for rows with the same values, and different for any others. */
  key(row: number): string {
    const { buffer, BYTES_PER_ELEMENT } = this.#words;
    const length = this.#wordsPerRow * BYTES_PER_ELEMENT;
    return Buffer.from(buffer, row * length, length).toString("latin1");
  }

  #index(row: number, value: number): number {
    return row * this.#wordsPerRow + (value >>> 5);
  }

  #word(index: number): number {
    return this.#words[index] ?? 0;
  }
}

export interface RowOf {
  readonly rows: BitRows;
  readonly row: number;
}
