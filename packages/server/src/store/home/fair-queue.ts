/**
 * A queue in which owners take turns. At most `maxRunningPerOwner` items of each owner and `maxRunning` of all run at the same time, so that the
 * backlog of one owner does not delay the first item of another.
 */
export class FairQueue<Item> {
  readonly #maxRunning: number;
  readonly #maxRunningPerOwner: number;
  readonly #isOneAtATime: (owner: string) => boolean;
  /** The owners with waiting items, in the order of their turns. */
  readonly #waiting = new Map<string, Item[]>();
  readonly #running = new Map<string, number>();
  #waitingCount = 0;
  #runningCount = 0;

  constructor({ maxRunning, maxRunningPerOwner, isOneAtATime = () => false }: FairQueueBounds) {
    this.#maxRunning = maxRunning;
    this.#maxRunningPerOwner = maxRunningPerOwner;
    this.#isOneAtATime = isOneAtATime;
  }

  add(owner: string, item: Item): void {
    const items = this.#waiting.get(owner);
    if (items === undefined) this.#waiting.set(owner, [item]);
    else items.push(item);
    this.#waitingCount += 1;
  }

  /** Takes the next item that may run; undefined when none may run. The item counts as running until `done`, or until `rest` and `rested`. */
  next(): Item | undefined {
    if (this.#runningCount >= this.#maxRunning) return undefined;
    for (const [owner, items] of this.#waiting) {
      const running = this.#running.get(owner) ?? 0;
      if (running >= this.#maxRunningPerOwner || (running > 0 && this.#isOneAtATime(owner))) continue;
      const item = items.shift();
      // The owner's turn is over, so the owner moves to the end of the line, or leaves the line.
      this.#waiting.delete(owner);
      if (items.length > 0) this.#waiting.set(owner, items);
      if (item === undefined) continue;
      this.#waitingCount -= 1;
      this.#runningCount += 1;
      this.#running.set(owner, running + 1);
      return item;
    }
    return undefined;
  }

  done(owner: string): void {
    this.rest();
    this.rested(owner);
  }

  /** Notes that an item has ended. Its place is free for items of other owners now, and for items of the same owner only after `rested`. */
  rest(): void {
    this.#runningCount -= 1;
  }

  rested(owner: string): void {
    const running = (this.#running.get(owner) ?? 0) - 1;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }

  /**
   * Returns a function that tells whether an item of an owner could run at once if it were added now. Call the function once for each item, in order:
   * an item for which it returned true counts as running in the calls that follow. The function does not consider `isOneAtATime`.
   */
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

interface FairQueueBounds {
  readonly maxRunning: number;
  readonly maxRunningPerOwner: number;
  /** Whether this owner may have only one item running now. If this function is left out, no owner has this bound. */
  readonly isOneAtATime?: (owner: string) => boolean;
}
