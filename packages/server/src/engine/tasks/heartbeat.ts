import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, RowHeldError } from "../../store/home/database.ts";
import type { CallKey } from "../../store/jobs/job-calls.ts";
import { holdsTask, holdTask } from "../../store/jobs/tasks.ts";

/**
 * Extends a worker's lease. Returns the time at which the lease ends; undefined when the worker does not hold the task any more. Throws
 * `RowHeldError` when another transaction has locked the task for too long.
 *
 * A locked row is tried again after a pause. No statement waits for the lock, because a waiting statement would keep its connection. Then the
 * heartbeats of a few workers with locked tasks would take all connections from the requests of other organizations.
 */
export async function heartbeat(db: Queryable, call: CallKey, progress: JsonValue): Promise<Timestamp | undefined> {
  const deadline = performance.now() + longestMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const leaseUntil = await holdTask(db, call, progress);
    if (leaseUntil !== undefined || !(await holdsTask(db, call))) return leaseUntil;
    if (performance.now() + pauseMs > deadline) throw new RowHeldError();
    await delay(pauseMs);
  }
}

/** A commit locks the row of a task for a few milliseconds, so the first pause is short. */
const firstPauseMs = 10;
/** The longest time in milliseconds for which a heartbeat tries a locked row again. After that, the worker is told to send the heartbeat again. */
const longestMs = 1_000;
