/**
 * Shares the time of the serving thread between organizations. To decide a command takes some microseconds, but where a large value is held against a
 * schema it may take 50 ms, in which nobody else is answered.
 */
export class Turns {
  /** Readings of the monotonic timer, by organization. */
  readonly #restUntil = new Map<string, number>();
  /** The rooms of organizations whose time ran out in a batch, in commands. */
  readonly #rooms = new Map<string, number>();
  readonly #now: () => number;
  readonly #cpuMs: () => number;

  /** Both in milliseconds: the monotonic timer, and the processor time that this thread has used. */
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
   * How many commands of an organization the next batch may take. What a batch takes it loads, and what was loaded for a command that then has no turn
   * was loaded for nothing: an organization whose time ran out gets as much room as it used, and twice as much each time when that sufficed.
   */
  roomOf(organizationId: string): number {
    return this.#rooms.get(organizationId) ?? Number.POSITIVE_INFINITY;
  }

  /** The turn of each organization in one batch. `isShared`: the batch has commands of several. */
  begin(isShared = false): BatchTurn {
    const turnMs = isShared ? sharedTurnMs : aloneTurnMs;
    const spentMs = new Map<string, number>();
    const counts = new Map<string, number>();
    const begunCpuMs = this.#cpuMs();
    let cpuMs = begunCpuMs;
    return {
      take: (organizationId, decide) => {
        let spentBefore = spentMs.get(organizationId) ?? 0;
        // On a busy machine the thread may only have waited for a processor.
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
  /** Undefined, and nothing done, once the organization has had its time in this batch. */
  take<Decision>(organizationId: string, decide: () => Decision): Decision | undefined;
}

/**
 * All commands of one organization may take so long in one batch, before the rest goes into the next one. To load and to write what they are about takes
 * about as long again, and where others are in the batch, they wait for all of it.
 */
const aloneTurnMs = 20;
const sharedTurnMs = 2;
/** An organization that has used more room than this has none set any more. */
const maxRoom = 500;
/** A command that takes longer is followed by a rest of its organization, for so many times as long. */
const costlyMs = 5;
const restFactor = 5;
const maxResting = 1_000;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
