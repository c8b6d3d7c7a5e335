import { ServiceError } from "../../core/service-error.ts";
import { shortLockTimeoutMs } from "../../store/home/database.ts";

/** The state of a command whose row another transaction holds. */
export interface Held {
  /** Reading of the monotonic timer past which it is not tried again. */
  readonly deadline: number;
  readonly pauseMs: number;
  /** Whether the batch has to wait for the row before it can pass it over, so that the command goes alone. */
  readonly isWaitedFor: boolean;
}

/** The pause grows with each time that the row is still held. The deadline is the one of the first time. */
export function heldAgain(before: Held | undefined, deadline: number, isWaitedFor: boolean): Held {
  const firstPauseMs = isWaitedFor ? shortLockTimeoutMs : passedOverPauseMs;
  return {
    deadline: before?.deadline ?? deadline,
    pauseMs: before === undefined ? firstPauseMs : Math.min(before.pauseMs * 2, firstPauseMs * 10),
    isWaitedFor,
  };
}

export function heldByOthers(cause: Error): ServiceError {
  const message =
    "Another transaction in the database holds the job, the organization or the Idempotency-Key that this change is about, and has not let go of it in time. Nothing was changed. Send the request again in a moment. Where that does not help, the operator finds the session that holds it in pg_stat_activity.";
  return new ServiceError("UnavailableError", message, { retryAfterSeconds: 2, cause });
}

/** A command whose row was passed over is tried again this soon. */
const passedOverPauseMs = 5;
