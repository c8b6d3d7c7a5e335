import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import type { StatementWatchData } from "./statement-watch.ts";

/**
 * The thread of a `StatementWatch`. At each interval it checks whether the running exchange has exceeded its time limit. If it has, the main thread
 * is made to cancel it.
 */

const { shared, watchId, lookMs } = workerData as StatementWatchData;
const state = new Int32Array(shared);
let seen = 0;
let seenAt = 0;
let isAsking = false;

setInterval(look, lookMs);

function look(): void {
  const running = Atomics.load(state, 0);
  if (running !== seen) {
    seen = running;
    seenAt = performance.now();
  } else if (running !== 0 && !isAsking && performance.now() - seenAt >= Atomics.load(state, 1)) {
    askForCancel(running);
  }
}

/**
 * Asks the main thread to cancel the exchange. Until the database has noticed this, the exchange still counts as running, so its cancellation may be
 * asked for again.
 */
function askForCancel(exchange: number): void {
  isAsking = true;
  const session = new Session();
  session.connectToMainThread();
  const expression = `globalThis[Symbol.for("stepwell.statement-watch")].get("${watchId}")?.(${exchange})`;
  session.post("Runtime.evaluate", { expression }, () => {
    session.disconnect();
    isAsking = false;
  });
}
