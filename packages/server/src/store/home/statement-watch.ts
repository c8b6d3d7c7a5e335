import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** The data that the thread gets at its start. */
export interface StatementWatchData {
  /** Two numbers that both threads see: the running exchange (0 for none), and its time limit in milliseconds. */
  readonly shared: SharedArrayBuffer;
  /** The id by which the thread finds the `CancelExchange` function of this watch. */
  readonly watchId: string;
  readonly lookMs: number;
}

/** Cancels an exchange if it is still the running one, and returns whether it was. */
type CancelExchange = (exchange: number) => boolean;

/** A process may load this module twice, for example from two installed packages. Both copies use this map, in which each thread finds its own watch. */
const cancels = sharedMap(Symbol.for("stepwell.statement-watch"));

function sharedMap(key: symbol): Map<string, CancelExchange> {
  const globals = globalThis as unknown as Record<symbol, Map<string, CancelExchange> | undefined>;
  globals[key] ??= new Map();
  return globals[key];
}

/**
 * Cancels statements of the embedded store that take too long. Statements run in this thread, where no timer fires before they end. So a second
 * thread watches the time. It makes this thread call `mark` in the middle of the statement, in the way a debugger would: V8 interrupts compiled
 * WebAssembly at the next loop or call.
 */
export class StatementWatch {
  readonly #mark: (isWanted: boolean) => void;
  readonly #state: Int32Array;
  readonly #watchId = randomUUID();
  readonly #startThread: () => Worker | undefined;
  #thread: Worker | undefined;
  #lastExchange = 0;
  #isMarked = false;

  /**
   * `mark(true)` is called in the middle of an exchange to cancel it, and `mark(false)` after the exchange, so that the next one is not cancelled.
   */
  constructor(mark: (isWanted: boolean) => void, shortestLimitMs: number) {
    this.#mark = mark;
    const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    this.#state = new Int32Array(shared);
    cancels.set(this.#watchId, (exchange) => {
      if (Atomics.load(this.#state, 0) !== exchange) return false;
      this.#isMarked = true;
      mark(true);
      return true;
    });
    const lookMs = Math.min(250, Math.max(10, Math.round(shortestLimitMs / 10)));
    this.#startThread = () => startThread({ shared, watchId: this.#watchId, lookMs });
  }

  /** Runs `work`, which must be synchronous. Without `limitMs` there is no time limit. */
  run<Result>(limitMs: number | undefined, work: () => Result): Result {
    if (limitMs === undefined) return work();
    // The thread starts with the first statement that has a limit. A process that uses only the engine's lane has no such statement, and needs no
    // thread.
    this.#thread ??= this.#startThread();
    this.#lastExchange = (this.#lastExchange % maxExchange) + 1;
    Atomics.store(this.#state, 1, limitMs);
    Atomics.store(this.#state, 0, this.#lastExchange);
    try {
      return work();
    } finally {
      Atomics.store(this.#state, 0, 0);
      if (this.#isMarked) this.#mark(false);
      this.#isMarked = false;
    }
  }

  close(): void {
    cancels.delete(this.#watchId);
    void this.#thread?.terminate();
  }
}

const maxExchange = 2 ** 31 - 1;

function startThread(workerData: StatementWatchData): Worker | undefined {
  // Cancelling uses the inspector. In a Node.js that was built without it, statements run to their end.
  if (!process.features.inspector) return undefined;
  const thread = new Worker(new URL(`./statement-watch-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    env: {},
    execArgv: [],
  });
  thread.unref();
  thread.on("error", (error) => process.emitWarning(`Long statements are not cancelled any more: ${error.message}`));
  return thread;
}
