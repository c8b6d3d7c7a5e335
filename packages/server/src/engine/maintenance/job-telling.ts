import { setTimeout as delay } from "node:timers/promises";

/** So many jobs as one commit writes in a few milliseconds: what others ask for meanwhile goes into the commits in between. */
const maxToldAtOnce = 30;

export interface Told {
  readonly isAnyChanged: boolean;
  /** The time was over before all had their turn. */
  readonly isCutShort: boolean;
}

/**
 * Tells jobs what a duty found, those of each organization by themselves: where the jobs of one take long, the others are told theirs, and the duty comes back
 * to them without waiting for that one.
 */
export class JobTelling<Found extends { readonly organizationId: string }> {
  readonly #busy = new Set<string>();
  readonly #rounds = new Set<Promise<void>>();
  readonly #maxAtOnce: number;
  #failures: unknown[] = [];

  /** `maxAtOnce` bounds the jobs that are told at the same time. */
  constructor(maxAtOnce: number = maxToldAtOnce) {
    this.#maxAtOnce = maxAtOnce;
  }

  /** The organizations whose jobs an earlier round still tells. Jobs for the next one are looked for when that is over: both would tell the same. */
  busy(): ReadonlySet<string> {
    return new Set(this.#busy);
  }

  /**
   * Tells jobs of organizations that are not busy, in their order, until the reading `endMs` of `performance.now()`. `tell` answers whether that changed
   * its job. Jobs that cannot be changed are no reason to end: they would be the first of the next round again.
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

/** Waits for work, or until the reading `endMs` of `performance.now()`. */
async function untilOver(work: Promise<unknown>, endMs: number): Promise<void> {
  if (endMs === Number.POSITIVE_INFINITY) return void (await work);
  const end = new AbortController();
  const leftMs = Math.max(0, endMs - performance.now());
  const ended = delay(leftMs, undefined, { signal: end.signal }).catch(() => undefined);
  await Promise.race([work, ended]);
  end.abort();
}
