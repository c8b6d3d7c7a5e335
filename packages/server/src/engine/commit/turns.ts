/**
 * Shares the time of the serving thread between organizations. Deciding a command takes a few microseconds, but checking a large value against a
 * schema may take 50 ms, during which nobody else is answered.
 */
export class Turns {
  /** Readings of the monotonic timer until which organizations rest, by organization. */
  readonly #restUntil = new Map<string, number>();
  /** The number of commands that the next batch may take, for organizations whose time ran out in a batch. */
  readonly #rooms = new Map<string, number>();
  readonly #now: () => number;
  readonly #cpuMs: () => number;

  /** Both functions read milliseconds: the monotonic timer, and the processor time that this thread has used. */
  constructor(now: () => number = () => performance.now(), cpuMs: () => number = threadCpuMs) {
    this.#now = now;
    this.#cpuMs = cpuMs;
  }

  /** How long an organization's commands have to wait until the next may be decided. */
  restMs(organizationId: string): number {
    if (this.#restUntil.size === 0) return 0;
    const restMs = (this.#restUntil.get(organizationId) ?? 0) - this.#now();
    if (restMs > 0) return restMs;
    this.#restUntil.delete(organizationId);
    return 0;
  }

  /**
   * The number of commands of an organization that the next batch may take. A batch loads everything it takes, and loading is wasted for a command
   * that then has no turn. So an organization whose time ran out gets as much room as it used, and twice as much each time when that sufficed.
   */
  roomOf(organizationId: string): number {
    return this.#rooms.get(organizationId) ?? Number.POSITIVE_INFINITY;
  }

  /** Begins one batch, in which each organization has a turn. `isShared` is true when the batch has commands of several organizations. */
  begin(isShared = false): BatchTurn {
    const turnMs = isShared ? sharedTurnMs : aloneTurnMs;
    const spentMs = new Map<string, number>();
    const counts = new Map<string, number>();
    const begunCpuMs = this.#cpuMs();
    let cpuMs = begunCpuMs;
    return {
      take: (organizationId, decide) => {
        let spentBefore = spentMs.get(organizationId) ?? 0;
        // On a busy machine the thread may only have waited for a processor, so its processor time is the better measure.
        if (spentBefore > turnMs) spentBefore = Math.min(spentBefore, this.#cpuMs() - begunCpuMs);
        const count = counts.get(organizationId) ?? 0;
        if (spentBefore > turnMs) {
          this.#setRoom(organizationId, count);
          return undefined;
        }
        if (count + 1 === this.#rooms.get(organizationId)) this.#setRoom(organizationId, 2 * count + 2);
        counts.set(organizationId, count + 1);
        const begun = this.#now();
        const decision = decide();
        const tookMs = this.#now() - begun;
        spentMs.set(organizationId, spentBefore + tookMs);
        if (tookMs > costlyMs) {
          const before = cpuMs;
          cpuMs = this.#cpuMs();
          const usedMs = Math.min(tookMs, cpuMs - before);
          if (usedMs > costlyMs) this.#rest(organizationId, begun + tookMs, usedMs * restFactor);
        }
        return decision;
      },
    };
  }

  #setRoom(organizationId: string, room: number): void {
    if (this.#rooms.size >= maxResting) this.#rooms.clear();
    if (room > maxRoom) this.#rooms.delete(organizationId);
    else this.#rooms.set(organizationId, Math.max(1, room));
  }

  #rest(organizationId: string, now: number, restMs: number): void {
    if (this.#restUntil.size >= maxResting) {
      for (const [resting, until] of this.#restUntil) if (until <= now) this.#restUntil.delete(resting);
    }
    this.#restUntil.set(organizationId, Math.max(this.#restUntil.get(organizationId) ?? now, now) + restMs);
  }
}

export interface BatchTurn {
  /** Runs `decide`. Returns undefined, without calling it, once the organization has used its time in this batch. */
  take<Decision>(organizationId: string, decide: () => Decision): Decision | undefined;
}

/**
 * The longest time that all commands of one organization may take in one batch, in milliseconds; the rest goes into the next batch. Loading and
 * writing take about as long again, and other organizations in the batch wait for all of it.
 */
const aloneTurnMs = 20;
const sharedTurnMs = 2;
/** The room of an organization is not limited any more once it has used more than this. */
const maxRoom = 500;
/** The organization of a command that takes longer than this rests afterwards, for a multiple of that time. */
const costlyMs = 5;
const restFactor = 5;
const maxResting = 1_000;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
