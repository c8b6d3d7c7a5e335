/**
 * Knows how long the reads of each organization took lately. Who opens a page may read as much as that takes; who goes on reading all the time gets a
 * third of the time of one connection, or the database would have no processor left for the others.
 */
export class ReadTime {
  readonly #spent = new Map<string, Spent>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a read took so long, and answers how long the organization should rest before the next one. */
  spend(organizationId: string, tookMs: number): number {
    const now = this.#now();
    const ms = leftOf(this.#spent.get(organizationId), now) + tookMs;
    if (this.#spent.size >= maxKnown) this.#forget(now);
    this.#spent.set(organizationId, { ms, at: now });
    return ms <= freeMs ? 0 : Math.min((ms - freeMs) / share, maxRestMs);
  }

  #forget(now: number): void {
    for (const [organizationId, spent] of this.#spent) {
      if (leftOf(spent, now) === 0) this.#spent.delete(organizationId);
    }
  }
}

interface Spent {
  readonly ms: number;
  readonly at: number;
}

/** Time that was spent is forgotten as time goes by. */
function leftOf(spent: Spent | undefined, now: number): number {
  return spent === undefined ? 0 : Math.max(0, spent.ms - (now - spent.at) * share);
}

const share = 1 / 3;
/** An organization may spend so long at once. */
const freeMs = 1_500;
/** The reads that wait meanwhile have a deadline. */
const maxRestMs = 1_000;
const maxKnown = 1_000;
