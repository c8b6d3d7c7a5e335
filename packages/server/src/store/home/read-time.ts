/**
 * Tracks how long the reads of each organization took recently, and says how long the organization rests before its next read. If somebody opens a
 * page from time to time, there is no rest, unless the reads take more than a second or two. An organization that reads all the time gets a third of
 * the time of one connection, so that the database keeps a processor for other work. After a very long read, a rest that keeps to this share would
 * make the waiting reads miss their deadline. Then the rest is shorter, and the organization gets up to a little more than half of the time. While
 * no other organization reads, no rest is longer than a second.
 */
export class ReadTime {
  readonly #spent = new Map<string, Spent>();
  readonly #now: () => number;
  readonly #longestRestMs: number;
  #latest: Arrival | undefined;
  /** The latest arrival of a read from an organization other than that of `#latest`. */
  #latestOther: Arrival | undefined;

  constructor(deadlineMs: number, now: () => number = () => performance.now()) {
    this.#longestRestMs = deadlineMs * restShare;
    this.#now = now;
  }

  /** Notes that an organization wants to read. */
  arrive(organizationId: string): void {
    if (this.#latest !== undefined && this.#latest.organizationId !== organizationId) this.#latestOther = this.#latest;
    this.#latest = { organizationId, at: this.#now() };
  }

  /**
   * Notes that a read of an organization begins. If the organization may have only one read at a time now, it begins no other until this read ends.
   */
  begin(organizationId: string): void {
    const spent = this.#spent.get(organizationId);
    if (spent !== undefined) spent.isOneAtATime = leftOf(spent, this.#now()) > parallelMs;
  }

  /** Notes that a read took this long, and returns how long the organization should rest before the next read. */
  spend(organizationId: string, tookMs: number): number {
    const now = this.#now();
    const maxRestMs = this.#isAlone(organizationId)
      ? Math.min(maxAloneRestMs, this.#longestRestMs)
      : this.#longestRestMs;
    // The time that counts is bounded, so that no rest is longer than `maxRestMs`.
    const ms = Math.min(leftOf(this.#spent.get(organizationId), now) + tookMs, freeMs + maxRestMs * share);
    if (this.#spent.size >= maxKnown) this.#forget(now);
    this.#spent.set(organizationId, { ms, at: now, isOneAtATime: false });
    return Math.max(0, (ms - freeMs) / share);
  }

  /**
   * Whether the organization may have only one read under way. Several long reads at once would take several times its share, because rests are
   * bounded.
   */
  isOneAtATime(organizationId: string): boolean {
    const spent = this.#spent.get(organizationId);
    if (spent === undefined || this.#isAlone(organizationId)) return false;
    return spent.isOneAtATime || leftOf(spent, this.#now()) > parallelMs;
  }

  /** Whether no other organization has read for a while. */
  #isAlone(organizationId: string): boolean {
    const other = this.#latest?.organizationId === organizationId ? this.#latestOther : this.#latest;
    return other === undefined || other.at < this.#now() - aloneAfterMs;
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
  /** Whether the read under way is the only one that the organization may have. Its time is not in `ms` yet. */
  isOneAtATime: boolean;
}

interface Arrival {
  readonly organizationId: string;
  readonly at: number;
}

/** Returns how much of the time that was spent on reads still counts. This becomes less as time passes. */
function leftOf(spent: Spent | undefined, now: number): number {
  return spent === undefined ? 0 : Math.max(0, spent.ms - (now - spent.at) * share);
}

const share = 1 / 3;
/** The time that an organization may spend on reads without a rest. */
const freeMs = 1_500;
/**
 * If more of an organization's time on reads than this still counts, the organization reads one at a time. It is shorter than `freeMs`: a rest ends
 * when `freeMs` still counts, and the organization should then go on reading one at a time.
 */
const parallelMs = 1_000;
/** The longest rest, as a fraction of the time for which a read may wait. */
const restShare = 0.8;
/** The longest rest while no other organization reads. */
const maxAloneRestMs = 1_000;
const aloneAfterMs = 10_000;
const maxKnown = 1_000;
