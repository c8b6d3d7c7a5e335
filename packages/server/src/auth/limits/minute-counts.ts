import type { Timestamp } from "../../core/time.ts";

const maxRemembered = 100_000;
const minuteMs = 60_000;

/** Counts, on this node, what each of many subjects does in a minute. The number of subjects that are remembered in one minute is bounded. */
export class MinuteCounts {
  readonly #maxPerMinute: number;
  readonly #now: () => Timestamp;
  #counts = new Map<string, number>();
  #minute = 0;

  /** 0 means no limit. */
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

  /** Returns the seconds until the minute of the last count is over. */
  secondsLeft(): number {
    return Math.max(1, Math.ceil(((this.#minute + 1) * minuteMs - this.#now()) / 1000));
  }
}
