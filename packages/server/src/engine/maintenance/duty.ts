import { setTimeout as delay } from "node:timers/promises";

/** Work that must be done again and again. `runOnce` does it once and may say how soon it should run again (default: `everyMs`). */
export interface Duty {
  readonly name: string;
  readonly everyMs: number;
  runOnce(): Promise<{ readonly againInMs: number } | undefined>;
}

/** Runs duties until stopped, each at its own interval and never twice at a time. A failure is reported, and the duty runs again at its next time. */
export class DutyRoster {
  readonly #onFailure: (duty: string, error: unknown) => void;
  readonly #shifts = new Map<Duty, Shift>();
  #isStopped = false;

  constructor(onFailure: (duty: string, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  start(duty: Duty): void {
    this.#shifts.set(duty, { dueAt: Number.POSITIVE_INFINITY, timer: undefined, running: undefined });
    this.hurry(duty, duty.everyMs);
  }

  /** Runs a duty again after `inMs` at the latest, whatever its interval. A run that is under way ends first. */
  hurry(duty: Duty, inMs: number): void {
    const shift = this.#shifts.get(duty);
    const dueAt = performance.now() + Math.max(0, inMs);
    if (this.#isStopped || shift === undefined || shift.dueAt <= dueAt) return;
    shift.dueAt = dueAt;
    if (shift.running === undefined) this.#setTimer(duty, shift);
  }

  /** Begins nothing more, and waits for running duties, but only up to `graceMs`: one of them may be waiting for a store that is out of reach. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    for (const shift of this.#shifts.values()) clearTimeout(shift.timer);
    const underWay = [...this.#shifts.values()].map((shift) => shift.running);
    await Promise.race([Promise.all(underWay), delay(graceMs, undefined, { ref: false })]);
  }

  #setTimer(duty: Duty, shift: Shift): void {
    clearTimeout(shift.timer);
    shift.timer = setTimeout(
      () => {
        shift.dueAt = Number.POSITIVE_INFINITY;
        shift.running = this.#run(duty, shift);
      },
      Math.max(0, shift.dueAt - performance.now()),
    );
  }

  async #run(duty: Duty, shift: Shift): Promise<void> {
    let againInMs = duty.everyMs;
    try {
      againInMs = (await duty.runOnce())?.againInMs ?? duty.everyMs;
    } catch (error) {
      this.#onFailure(duty.name, error);
    }
    shift.running = undefined;
    // The duty may have been hurried during this run, for something that the run did not see.
    shift.dueAt = Math.min(shift.dueAt, performance.now() + againInMs);
    if (!this.#isStopped) this.#setTimer(duty, shift);
  }
}

interface Shift {
  /** The time of the next run by the monotonic timer; infinite while no run is planned. */
  dueAt: number;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
}
