import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { MinuteCounts } from "./minute-counts.ts";

/**
 * Counts, on this node and minute by minute, the failed attempts to get access. A request without a valid credential is counted for its network. If
 * the caller does not belong to the organization or lacks a permission, the request is counted for the caller. Each of these requests may cost a
 * look-up that nothing else limits.
 */
export class FailedAccessLimit {
  readonly #maxPerMinute: number;
  readonly #counts: MinuteCounts;

  /** 0 means no limit. */
  constructor(maxPerMinute: number, now: () => Timestamp) {
    this.#maxPerMinute = maxPerMinute;
    this.#counts = new MinuteCounts(maxPerMinute, now);
  }

  note(subject: string): void {
    this.#counts.note(subject);
  }

  isOver(subject: string): boolean {
    return this.#counts.isOver(subject);
  }

  /** The error for a network or a caller that is over the limit. */
  error(): ServiceError {
    const retryAfterSeconds = this.#counts.secondsLeft();
    return new ServiceError(
      "RateLimitError",
      `Too many requests from your address, or with your credential, were refused in this minute: ${this.#maxPerMinute}. Check the token and the organization's id, and try again in ${retryAfterSeconds} s. The operator can change the limit with STEPWELL_MAX_REFUSALS_PER_MINUTE.`,
      { retryAfterSeconds },
    );
  }
}
