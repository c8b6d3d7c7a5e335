import type { Timestamp } from "../../core/time.ts";

/**
 * The clock for all times and ids is the database's. Each heartbeat reads it. Between two heartbeats, this node counts on with its monotonic timer,
 * so a jump of the machine's own clock moves no timer and no id.
 */
export class DatabaseClock {
  #offset: number;
  readonly #monotonicMs: () => number;
  readonly #machineMs: () => number;

  constructor(monotonicMs: () => number = () => performance.now(), machineMs: () => number = () => Date.now()) {
    this.#monotonicMs = monotonicMs;
    this.#machineMs = machineMs;
    this.#offset = Date.now() - monotonicMs();
  }

  now(): Timestamp {
    return Math.round(this.#offset + this.#monotonicMs());
  }

  /**
   * Sets the clock by the database's. `databaseNow` was read at an unknown moment between the two given readings of the monotonic timer. So the clock
   * moves only as far as it must: it stays as it is if it showed `databaseNow` at some moment between the two readings.
   */
  adjust(databaseNow: Timestamp, before: number, after: number): void {
    this.#offset = Math.min(Math.max(this.#offset, databaseNow - after), databaseNow - before);
  }

  moment(): Moment {
    return { monotonicMs: this.#monotonicMs(), machineMs: this.#machineMs() };
  }

  /**
   * The longest time that may have passed. The monotonic timer stands still while a machine sleeps, and only the machine's own clock shows the sleep.
   * A jump of that clock forward looks like a sleep. A jump back hides nothing, because the monotonic timer still counts.
   */
  elapsedMs(since: Moment): number {
    return Math.max(this.#monotonicMs() - since.monotonicMs, this.#machineMs() - since.machineMs);
  }
}

/** The readings of the machine's two clocks at one moment. */
export interface Moment {
  readonly monotonicMs: number;
  readonly machineMs: number;
}
