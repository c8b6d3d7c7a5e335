/**
 * Tracks how long the reads of each organization took recently. A user who opens a page now and then reads without a rest. A client that reads all
 * the time gets a third of the time of one connection, so that the database keeps a processor for the others.
 */
export class ReadTime {
  readonly #spent = new Map<string, Spent>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a read took this long, and returns how long the organization should rest before the next read. */
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

/** The part of the time spent on reads that still counts. It decreases as time passes. */
function leftOf(spent: Spent | undefined, now: number): number {
  return spent === undefined ? 0 : Math.max(0, spent.ms - (now - spent.at) * share);
}

const share = 1 / 3;
/** The time that an organization may spend on reads without a rest. */
const freeMs = 1_500;
/** The longest rest. It is bounded because the waiting reads have a deadline. */
const maxRestMs = 1_000;
const maxKnown = 1_000;
