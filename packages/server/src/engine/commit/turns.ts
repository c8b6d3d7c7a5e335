/**
 * Shares the time of the serving thread between organizations. To decide a command takes some microseconds, but where a large value is held against a
 * schema it may take 50 ms, in which nobody else is answered.
 */
export class Turns {
  /** Readings of the monotonic timer, by organization. */
  readonly #restUntil = new Map<string, number>();
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

  /** The turn of each organization in one batch. */
  begin(): BatchTurn {
    const spentMs = new Map<string, number>();
    const begunCpuMs = this.#cpuMs();
    let cpuMs = begunCpuMs;
    return {
      take: (organizationId, decide) => {
        let spentBefore = spentMs.get(organizationId) ?? 0;
        // On a busy machine the thread may only have waited for a processor.
        if (spentBefore > turnMs) spentBefore = Math.min(spentBefore, this.#cpuMs() - begunCpuMs);
        if (spentBefore > turnMs) return undefined;
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

/** All commands of one organization may take so long in one batch, before the rest goes into the next one. */
const turnMs = 20;
/** A command that takes longer is followed by a rest of its organization, for so many times as long. */
const costlyMs = 5;
const restFactor = 5;
const maxResting = 1_000;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
