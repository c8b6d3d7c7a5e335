import type { Timestamp } from "../core/job/job-state.ts";

/**
 * The one clock: the database's. Each heartbeat reads it; between two this node counts on by its monotonic timer, so that a step
 * of the machine's own clock moves no job, lease or id.
 */
export class DatabaseClock {
  #offset: number;
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
    this.#offset = Date.now() - monotonicMs();
  }

  now(): Timestamp {
    return Math.round(this.#offset + this.#monotonicMs());
  }

  /** `databaseNow` was read between the two given readings of the monotonic timer. */
  adjust(databaseNow: Timestamp, before: number, after: number): void {
    this.#offset = databaseNow - (before + after) / 2;
  }

  monotonicMs(): number {
    return this.#monotonicMs();
  }
}
