import { setTimeout as delay } from "node:timers/promises";

/** The number of jobs that are told together. It is small, so that their commit takes only a few milliseconds and requests need not wait long. */
const maxToldAtOnce = 30;

export interface Told {
  readonly isAnyChanged: boolean;
  /** True when the time was over before all jobs had their turn. */
  readonly isCutShort: boolean;
}

/**
 * Tells jobs what a duty found, separately for each organization. When the jobs of one organization take long, the jobs of the others are still told,
 * and the duty goes on without waiting for the slow organization.
 */
export class JobTelling<Found extends { readonly organizationId: string }> {
  readonly #busy = new Set<string>();
  readonly #rounds = new Set<Promise<void>>();
  readonly #maxAtOnce: number;
  #failures: unknown[] = [];

  constructor(maxAtOnce: number = maxToldAtOnce) {
    this.#maxAtOnce = maxAtOnce;
  }

  /**
   * The organizations whose jobs an earlier round is still telling. More jobs of these organizations should be looked for only later, because two
   * rounds would otherwise tell the same jobs.
   */
  busy(): ReadonlySet<string> {
    return new Set(this.#busy);
  }

  /**
   * Tells the jobs of each organization in the given order. Returns at `endMs` (a reading of `performance.now()`) at the latest, but the telling may
   * go on after that. None of the jobs may belong to a busy organization. The given `tell` tells one job, and returns whether this changed the job.
   * After `endMs`, the telling stops as soon as any job has changed. Before the first change it goes on. Otherwise, the jobs that cannot be changed,
   * which come first again in each round, could keep all other jobs from being told.
   */
  async tell(
    found: readonly Found[],
    tell: (one: Found) => Promise<boolean>,
    endMs = Number.POSITIVE_INFINITY,
  ): Promise<Told> {
    const told = { isAnyChanged: false, isCutShort: false };
    const round = this.#tellAll(found, tell, endMs, told);
    this.#rounds.add(round);
    void round.finally(() => this.#rounds.delete(round));
    await untilOver(Promise.all(this.#rounds), endMs);
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
    return { ...told, isCutShort: told.isCutShort || this.#busy.size > 0 };
  }

  async #tellAll(
    found: readonly Found[],
    tell: (one: Found) => Promise<boolean>,
    endMs: number,
    told: { isAnyChanged: boolean; isCutShort: boolean },
  ): Promise<void> {
    const byOrganization = Map.groupBy(found, ({ organizationId }) => organizationId);
    const share = Math.max(1, Math.floor(this.#maxAtOnce / byOrganization.size));
    for (const organizationId of byOrganization.keys()) this.#busy.add(organizationId);
    const isOver = () => {
      told.isCutShort ||= told.isAnyChanged && performance.now() > endMs;
      return told.isCutShort;
    };
    const left = byOrganization.entries();
    const tellOneAfterTheOther = async () => {
      for (const [organizationId, jobs] of left) {
        try {
          for (let first = 0; first < jobs.length && !isOver(); first += share) {
            const changed = await Promise.all(jobs.slice(first, first + share).map((one) => tell(one)));
            told.isAnyChanged ||= changed.includes(true);
          }
        } catch (error) {
          this.#failures.push(error);
        }
        this.#busy.delete(organizationId);
      }
    };
    await Promise.all(Array.from({ length: Math.min(byOrganization.size, this.#maxAtOnce) }, tellOneAfterTheOther));
  }
}

/** Returns when the work has ended, or at `endMs` (a reading of `performance.now()`). */
export async function untilOver(work: Promise<unknown>, endMs: number): Promise<void> {
  if (endMs === Number.POSITIVE_INFINITY) return void (await work);
  const end = new AbortController();
  const leftMs = Math.max(0, endMs - performance.now());
  const ended = delay(leftMs, undefined, { signal: end.signal }).catch(() => undefined);
  await Promise.race([work, ended]);
  end.abort();
}
