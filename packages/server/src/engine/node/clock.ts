import type { Timestamp } from "../../core/time.ts";

/**
 * This node's copy of the database's clock, for all times and ids. Each heartbeat sets it. Between two heartbeats, it runs on with the monotonic
 * timer. So a jump of the machine's clock moves no timer and no id, if the database runs on another machine.
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
   * Sets this clock by the database's clock. `databaseNow` was read at an unknown moment between the two given readings of the monotonic timer. So
   * this clock moves only as far as it must: it stays as it is if it showed `databaseNow` at some moment between the two readings.
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

export interface Moment {
  readonly monotonicMs: number;
  readonly machineMs: number;
}
