/**
 * A queue in which owners take turns: of each owner at most `maxRunningPerOwner` items run at once and of all at most `maxRunning`, so that
 * one owner's backlog delays nobody else's first item.
 */
export class FairQueue<Item> {
  readonly #maxRunning: number;
  readonly #maxRunningPerOwner: number;
  /** Owners with something waiting, in the order of their turns. */
  readonly #waiting = new Map<string, Item[]>();
  readonly #running = new Map<string, number>();
  #waitingCount = 0;
  #runningCount = 0;

  constructor(bounds: { readonly maxRunning: number; readonly maxRunningPerOwner: number }) {
    this.#maxRunning = bounds.maxRunning;
    this.#maxRunningPerOwner = bounds.maxRunningPerOwner;
  }

  add(owner: string, item: Item): void {
    const items = this.#waiting.get(owner);
    if (items === undefined) this.#waiting.set(owner, [item]);
    else items.push(item);
    this.#waitingCount += 1;
  }

  /** The next item that may run, which then counts as running until `done`; undefined when none may. */
  next(): Item | undefined {
    if (this.#runningCount >= this.#maxRunning) return undefined;
    for (const [owner, items] of this.#waiting) {
      if ((this.#running.get(owner) ?? 0) >= this.#maxRunningPerOwner) continue;
      const item = items.shift();
      // The owner's turn is over: to the end of the line, or out of it.
      this.#waiting.delete(owner);
      if (items.length > 0) this.#waiting.set(owner, items);
      if (item === undefined) continue;
      this.#waitingCount -= 1;
      this.#runningCount += 1;
      this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
      return item;
    }
    return undefined;
  }

  done(owner: string): void {
    this.rest();
    this.rested(owner);
  }

  /** An item has ended, and its place is free for the items of others. Its owner gets it back with `rested`. */
  rest(): void {
    this.#runningCount -= 1;
  }

  rested(owner: string): void {
    const running = (this.#running.get(owner) ?? 0) - 1;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }

  /** Says of each item in turn whether it could run at once if it were added now, after those that were asked for before it. */
  beginsAtOnce(): (owner: string) => boolean {
    let free = this.#maxRunning - this.#runningCount;
    const running = new Map<string, number>();
    return (owner) => {
      const ownRunning = running.get(owner) ?? this.#running.get(owner) ?? 0;
      if (free <= 0 || ownRunning >= this.#maxRunningPerOwner || this.#waiting.has(owner)) return false;
      free -= 1;
      running.set(owner, ownRunning + 1);
      return true;
    };
  }

  /** Those with something waiting. */
  get waitingOwners(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  isWaiting(owner: string): boolean {
    return this.#waiting.has(owner);
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  get runningCount(): number {
    return this.#runningCount;
  }
}
