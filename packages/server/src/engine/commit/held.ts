import { ServiceError } from "../../core/service-error.ts";
import { shortLockTimeoutMs } from "../../store/home/database.ts";

/** The state of a command whose row another transaction holds. */
export interface Held {
  /** A reading of the monotonic timer after which the command is not tried again. */
  readonly deadline: number;
  readonly pauseMs: number;
  /** True when the batch cannot skip the row and has to wait for it. The command is then in a batch of its own. */
  readonly isWaitedFor: boolean;
}

/**
 * Makes the state after the row was found locked, for the first time or again. The pause doubles each time, until it is ten times as long as the
 * first pause. The deadline is the one that was set the first time.
 */
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
    "Another transaction in the database has locked the job, the organization or the Idempotency-Key of this change, and did not release it in time. Nothing was changed. Send the request again in a moment. If that does not help, the operator can look into pg_stat_activity: it lists the session that holds the lock.";
  return new ServiceError("UnavailableError", message, { retryAfterSeconds: 2, cause });
}

/** The first pause of a command whose row was skipped, before the command is tried again. */
const passedOverPauseMs = 5;
