/**
 * Shares the time of the serving thread between organizations. Deciding a command takes a few microseconds, but checking a large value against a
 * schema may take 50 ms, during which nobody else is answered.
 */
export class Turns {
  /**
   * For each organization, the reading of the monotonic timer until which it rests. An entry stays for a while after the organization has rested,
   * because it marks the organization as costly.
   */
  readonly #restUntil = new Map<string, number>();
  /** For each organization, the number of jobs whose commands the next batch may take. Only organizations that used too much time have an entry. */
  readonly #rooms = new Map<string, number>();
  /** The organizations whose commands were deferred after a long preparation, and have not been decided since. */
  readonly #prepared = new Set<string>();
  /** The two organizations that had commands in a batch most recently, the latest first. */
  #latest: readonly Seen[] = [];
  readonly #now: () => number;
  readonly #cpuMs: () => number;

  /** Both functions return milliseconds. `now` reads the monotonic timer, and `cpuMs` the processor time that this thread has used. */
  constructor(now: () => number = () => performance.now(), cpuMs: () => number = threadCpuMs) {
    this.#now = now;
    this.#cpuMs = cpuMs;
  }

  /** How long an organization's commands have to wait before the next command may be decided. */
  restMs(organizationId: string): number {
    const until = this.#restUntil.get(organizationId);
    return until === undefined ? 0 : Math.max(0, until - this.#now());
  }

  hasCostly(): boolean {
    for (const organizationId of this.#restUntil.keys())
      if (!this.isCostly(organizationId)) this.#restUntil.delete(organizationId);
    return this.#restUntil.size > 0;
  }

  /** Whether the organization rests now, or rested within the last second. Its next commands are probably costly too. */
  isCostly(organizationId: string): boolean {
    const until = this.#restUntil.get(organizationId);
    return until !== undefined && until + costlyForMs > this.#now();
  }

  /**
   * The number of jobs of an organization whose commands the next batch may take. A batch loads the data of all its jobs, and this work is wasted for
   * a job that then gets no turn. So an organization whose time ran out has room for as many jobs as got a turn. When a later batch gives that
   * many jobs a turn, the room doubles. Jobs are counted and not commands, because the state of a job is read and written once for all its commands.
   */
  roomOf(organizationId: string): number {
    return this.#rooms.get(organizationId) ?? Number.POSITIVE_INFINITY;
  }

  /** Begins one batch, in which each organization has a turn. `jobCounts` has the number of jobs of each organization. */
  begin(jobCounts: ReadonlyMap<string, number>): BatchTurn {
    this.#note(jobCounts);
    const turnMs = jobCounts.size > 1 ? sharedTurnMs : aloneTurnMs;
    const spentMs = new Map<string, number>();
    const costMs = new Map<string, number>();
    const spend = (organizationId: string, ms: number) => {
      const before = costMs.get(organizationId) ?? 0;
      const now = before + ms;
      costMs.set(organizationId, now);
      if (now <= shareMs || this.#isAlone(organizationId)) return;
      this.#rest(organizationId, this.#now(), (now - Math.max(before, shareMs)) * shareFactor);
      const count = jobCounts.get(organizationId) ?? 0;
      if (count > 1) this.#setRoom(organizationId, Math.floor((count * shareMs) / now));
    };
    const decided = new Map<string, Set<string>>();
    const deferred = new Set<string>();
    const begunCpuMs = this.#cpuMs();
    let cpuMs = begunCpuMs;
    return {
      take: ({ organizationId, jobId }, decide) => {
        if (deferred.has(organizationId)) return undefined;
        this.#prepared.delete(organizationId);
        let spentBefore = spentMs.get(organizationId) ?? 0;
        // On a busy machine, the thread may only have waited for a processor. So the processor time is the better measure.
        if (spentBefore > turnMs) spentBefore = Math.min(spentBefore, this.#cpuMs() - begunCpuMs);
        const jobs = decided.get(organizationId) ?? new Set();
        if (spentBefore > turnMs) {
          this.#setRoom(organizationId, jobs.size);
          return undefined;
        }
        decided.set(organizationId, jobs);
        const isNew = !jobs.has(jobId);
        jobs.add(jobId);
        if (isNew && jobs.size === this.#rooms.get(organizationId)) this.#setRoom(organizationId, 2 * jobs.size);
        const begun = this.#now();
        const decision = decide();
        const tookMs = this.#now() - begun;
        spentMs.set(organizationId, spentBefore + tookMs);
        if (tookMs <= costlyMs) spend(organizationId, tookMs);
        else {
          const before = cpuMs;
          cpuMs = this.#cpuMs();
          const usedMs = Math.min(tookMs, cpuMs - before);
          if (usedMs > costlyMs) this.#rest(organizationId, begun + tookMs, this.#restAfter(organizationId, usedMs));
        }
        return decision;
      },
      noteBytes: (organizationId, bytes) => spend(organizationId, bytes * msPerByte),
      notePreparation: (organizationId, ms) => {
        spend(organizationId, ms);
        if (ms <= costlyMs || this.#isAlone(organizationId)) return;
        if (this.#prepared.has(organizationId)) return;
        if (this.#prepared.size >= maxResting) this.#prepared.clear();
        this.#prepared.add(organizationId);
        deferred.add(organizationId);
      },
    };
  }

  #note(jobCounts: ReadonlyMap<string, number>): void {
    const at = this.#now();
    const now = [...jobCounts.keys().take(2)].map((organizationId) => ({ organizationId, at }));
    const before = this.#latest.filter(({ organizationId }) => !jobCounts.has(organizationId));
    this.#latest = [...now, ...before].slice(0, 2);
  }

  /** How long an organization rests after a command that took `usedMs`. */
  #restAfter(organizationId: string, usedMs: number): number {
    const proportionalMs = usedMs * restFactor;
    if (this.#isAlone(organizationId)) return proportionalMs;
    return Math.max(proportionalMs, Math.min(usedMs ** 2 * restFactorPerMs, maxGrownRestMs));
  }

  /** Whether no other organization had commands in the last second. */
  #isAlone(organizationId: string): boolean {
    const since = this.#now() - aloneAfterMs;
    return this.#latest.every((seen) => seen.organizationId === organizationId || seen.at < since);
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

interface Seen {
  readonly organizationId: string;
  readonly at: number;
}

export interface BatchTurn {
  /** Runs `decide`. Returns undefined, without calling it, once the organization has used its time in this batch, or its commands are deferred. */
  take<Decision>(
    job: { readonly organizationId: string; readonly jobId: string },
    decide: () => Decision,
  ): Decision | undefined;
  /**
   * Notes that the batch reads or writes this many bytes for an organization. That takes much longer than deciding. So after many bytes the
   * organization rests and has less room in the next batch, but only while other organizations have commands.
   */
  noteBytes(organizationId: string, bytes: number): void;
  /**
   * Notes that it took this long to prepare what an organization's commands need, such as a plan that the node keeps. The effect is the same as that
   * of `noteBytes`. After a long preparation the organization's commands are also deferred, so that deciding them does not delay the others further.
   * They are deferred once only: if the node could not keep what it prepared, the next batch prepares it again and then decides.
   */
  notePreparation(organizationId: string, ms: number): void;
}

/**
 * When the commands of one organization have taken more milliseconds than this in a batch, its other commands go into the next batch. The first
 * number is for a batch without another organization, the second for a batch with others. Loading and writing take about the same time in addition,
 * and other organizations in the batch wait for all of this.
 */
const aloneTurnMs = 20;
const sharedTurnMs = 2;
/** When the room of an organization would grow to more jobs than this, it is not limited any more. */
const maxRoom = 500;
/**
 * When a command takes longer than this, its organization rests afterwards for a multiple of the time that the command took. While other
 * organizations have commands, the multiple grows with that time, because a command that takes twice as long delays twice as many commands of the
 * others, and each of them for twice as long.
 */
const costlyMs = 5;
const restFactor = 5;
const restFactorPerMs = 1 / 2;
/** The multiple grows only up to a rest of this length. That is shorter than the time that a command may wait for its commit (4 s by default). */
const maxGrownRestMs = 2_000;
/**
 * An estimate of the time to read or write a byte. On the embedded store 130 KB (the state of a fork with 1,000 open branches) take about 5 ms: two
 * thirds in the store, and one third to parse and to serialize them.
 */
const msPerByte = 0.04 / 1_000;
/**
 * The time that an organization's part of a batch may cost while other organizations have commands. When it costs more, the organization has less
 * room in the next batch and rests for a multiple of the excess. Less room alone is not enough, because a single command may cost more than this
 * time. Small commands hardly ever make the organization rest, because the smaller room keeps their cost below this time.
 */
const shareMs = 5;
const shareFactor = 3;
const aloneAfterMs = 1_000;
const costlyForMs = 1_000;
const maxResting = 1_000;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
