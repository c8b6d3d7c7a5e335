import type { Timestamp } from "../core/job-state.ts";
import { ServiceError } from "../core/service-error.ts";

/** So many addresses at most are remembered in one minute. */
const maxRemembered = 100_000;
const minuteMs = 60_000;

/**
 * Counts, on this node and by the minute, who was refused at the door: addresses whose requests carry no valid credential, and callers that ask
 * for organizations that they have nothing to do with. Each such request may cost a look-up that nothing else bounds.
 */
export class Refusals {
  readonly #maxPerMinute: number;
  readonly #now: () => Timestamp;
  #counts = new Map<string, number>();
  #minute = 0;

  /** 0: no limit. */
  constructor(maxPerMinute: number, now: () => Timestamp) {
    this.#maxPerMinute = maxPerMinute;
    this.#now = now;
  }

  note(subject: string): void {
    const minute = Math.floor(this.#now() / minuteMs);
    if (minute !== this.#minute) this.#counts = new Map();
    this.#minute = minute;
    const known = this.#counts.get(subject);
    if (known === undefined && this.#counts.size >= maxRemembered) return;
    this.#counts.set(subject, (known ?? 0) + 1);
  }

  isOver(subject: string): boolean {
    if (this.#maxPerMinute === 0 || (this.#counts.get(subject) ?? 0) < this.#maxPerMinute) return false;
    return Math.floor(this.#now() / minuteMs) === this.#minute;
  }

  /** What whoever is over the limit is told. */
  error(): ServiceError {
    const retryAfterSeconds = Math.max(1, Math.ceil(((this.#minute + 1) * minuteMs - this.#now()) / 1000));
    return new ServiceError(
      "RateLimitError",
      `Too many requests from here were refused in this minute: ${this.#maxPerMinute}. Check the token and the organization's id, and try again in ${retryAfterSeconds} s. The operator can change the limit with STEPWELL_MAX_REFUSALS_PER_MINUTE.`,
      { retryAfterSeconds },
    );
  }
}
