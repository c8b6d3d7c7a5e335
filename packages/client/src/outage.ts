import { isPassing, type StepwellError } from "./error.ts";
import { backoffMs, pause } from "./pause.ts";

export interface OutageOptions {
  /** Ends the call or the stream at once, with the signal's reason as the error. */
  readonly signal?: AbortSignal | undefined;
  /** How long the service may be out of reach, in milliseconds, before the waiting ends with an error. Default 120,000. */
  readonly maxOutageMs?: number | undefined;
  /** Called once at the beginning of each outage through which the call waits, so that a program can say why nothing happens. */
  readonly onOutage?: ((error: StepwellError) => void) | undefined;
}

/** Decides how long to wait for a service that is out of reach, for example while it restarts. */
export class Outage {
  readonly #signal: AbortSignal | undefined;
  readonly #maxOutageMs: number;
  readonly #onOutage: OutageOptions["onOutage"];
  #failures = 0;
  #since = 0;

  constructor({ signal, maxOutageMs = 120_000, onOutage }: OutageOptions) {
    this.#signal = signal;
    this.#maxOutageMs = maxOutageMs;
    this.#onOutage = onOutage;
  }

  /** Ends the outage, because the service has answered. */
  heard(): void {
    this.#failures = 0;
  }

  /** Resolves when it is time to try again. Throws the error if another attempt cannot help, or if the service was out of reach for too long. */
  async waitAfter(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!isPassing(error)) throw error;
    const now = performance.now();
    if (this.#failures === 0) this.#since = now;
    this.#failures += 1;
    const { retryAfterSeconds } = error;
    const pauseMs =
      retryAfterSeconds === undefined ? backoffMs(this.#failures) : Math.max(retryAfterSeconds * 1000, leastPauseMs);
    if (now + pauseMs > this.#since + this.#maxOutageMs) throw error;
    if (this.#failures === 1) this.#onOutage?.(error);
    await pause(pauseMs, this.#signal);
    this.#signal?.throwIfAborted();
  }
}

/** The shortest pause. It keeps the waiting from becoming a busy loop, even if a proxy asks for no pause. */
const leastPauseMs = 50;

/**
 * Repeats an action until it succeeds. Throws when another attempt cannot help, when the service was out of reach for `maxOutageMs`, or when the
 * signal is aborted.
 */
export async function throughOutages<Result>(options: OutageOptions, work: () => Promise<Result>): Promise<Result> {
  const outage = new Outage(options);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      await outage.waitAfter(error);
    }
  }
}
