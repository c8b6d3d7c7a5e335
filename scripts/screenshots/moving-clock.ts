import { performance } from "node:perf_hooks";

/**
 * A clock for this process that is set back and moved forward by hand. It spreads the work of a few real seconds over a day of the service: the
 * database in this process, ids, tokens and histories all use this clock.
 */
export class MovingClock {
  #behindMs: number;

  constructor(behindMs: number) {
    this.#behindMs = behindMs;
    const machine = { now: Date.now, monotonic: performance.now.bind(performance) };
    const behind = () => this.#behindMs;
    globalThis.Date = class extends Date {
      constructor(...values: unknown[]) {
        super(...((values.length === 0 ? [machine.now() - behind()] : values) as [number]));
      }

      static override now(): number {
        return machine.now() - behind();
      }
    } as DateConstructor;
    performance.now = () => machine.monotonic() - behind();
  }

  /** How far this clock is behind the machine's own. */
  get behindMs(): number {
    return this.#behindMs;
  }

  pass(ms: number): void {
    this.#behindMs = Math.max(0, this.#behindMs - ms);
  }

  /** Moves the clock to the machine's own time. */
  catchUp(): void {
    this.#behindMs = 0;
  }
}
