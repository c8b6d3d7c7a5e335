import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** The rule that limits how many sign-in attempts for one subject are evaluated, and how soon after each other. */
export interface BackoffRule {
  /** The number of attempts that need no wait. After the last of these the wait is one second, and each further attempt doubles it. */
  readonly freeCount: number;
  readonly maxWaitSeconds: number;
  /** The count begins anew when there was no attempt for this long. */
  readonly forgetAfterSilentSeconds: number;
  /** The count begins anew this long after its first attempt or, if the subject is blocked at that moment, when the block ends. */
  readonly forgetAfterSeconds: number;
}

/**
 * Counts an attempt before it is evaluated, as if it had failed. This is one conditional write. So only as many attempts pass as the rule
 * allows, even if many are made at the same time on many nodes. Returns the count; undefined while the subject is blocked, and then the attempt is
 * not counted.
 */
export async function claimSignInAttempt(
  db: Queryable,
  subjectHash: Buffer,
  rule: BackoffRule,
  at: Timestamp,
): Promise<number | undefined> {
  const [row] = await db.query(claimSignInAttemptRow, [
    subjectHash,
    new Date(at).toISOString(),
    new Date(at - rule.forgetAfterSilentSeconds * 1_000).toISOString(),
    new Date(at - rule.forgetAfterSeconds * 1_000).toISOString(),
    rule.freeCount,
    rule.maxWaitSeconds,
  ]);
  return row?.failureCount;
}

/**
 * `excluded` has the values of a new count. The exponent is at most 30, because 2^30 seconds is longer than any maximum wait. For a subject that is
 * not blocked, the end of the block is '-infinity' and not the time of the attempt. Otherwise the subject would seem blocked to a node whose clock is
 * a few milliseconds behind.
 */
const claimSignInAttemptRow = statement<{ failureCount: number }>(
  "claim_sign_in_attempt",
  "global",
  `INSERT INTO sign_in_backoff AS held (subject_hash, failure_count, first_failed_at, last_failed_at, blocked_until)
   VALUES ($1, 1, $2::timestamptz, $2::timestamptz, '-infinity')
   ON CONFLICT (subject_hash) DO UPDATE
   SET failure_count = CASE WHEN held.last_failed_at < $3::timestamptz OR held.first_failed_at < $4::timestamptz
         THEN 1 ELSE held.failure_count + 1 END,
     first_failed_at = CASE WHEN held.last_failed_at < $3::timestamptz OR held.first_failed_at < $4::timestamptz
         THEN excluded.first_failed_at ELSE held.first_failed_at END,
     last_failed_at = excluded.last_failed_at,
     blocked_until = CASE WHEN held.last_failed_at < $3::timestamptz OR held.first_failed_at < $4::timestamptz
           OR held.failure_count + 1 < $5::integer
         THEN excluded.blocked_until
         ELSE excluded.last_failed_at
           + least(power(2, least(held.failure_count + 1 - $5::integer, 30)), $6::float8) * interval '1 second' END
   WHERE held.blocked_until <= excluded.last_failed_at
   RETURNING failure_count AS "failureCount"`,
);

/** Finds the latest time until which any of the subjects is blocked. Undefined when this is not after `at`. */
export async function findSignInBlock(
  db: Queryable,
  subjectHashes: readonly Buffer[],
  at: Timestamp,
): Promise<Timestamp | undefined> {
  const [row] = await db.query(findSignInBlockRow, [subjectHashes, new Date(at).toISOString()]);
  return row?.blockedUntil ?? undefined;
}

const findSignInBlockRow = statement<{ blockedUntil: Timestamp | null }>(
  "find_sign_in_block",
  "global",
  `SELECT max(blocked_until) AS "blockedUntil"
   FROM sign_in_backoff
   WHERE subject_hash = ANY($1::bytea[]) AND blocked_until > $2::timestamptz`,
);

/** Takes back an attempt that was counted but did not fail. If this attempt caused the block, the block is removed too. */
export async function refundSignInAttempt(db: Queryable, subjectHash: Buffer, claimedCount: number): Promise<void> {
  await db.query(refundSignInAttemptRow, [subjectHash, claimedCount]);
}

const refundSignInAttemptRow = statement<never>(
  "refund_sign_in_attempt",
  "global",
  `UPDATE sign_in_backoff
   SET failure_count = failure_count - 1,
     blocked_until = CASE WHEN failure_count = $2 THEN '-infinity' ELSE blocked_until END
   WHERE subject_hash = $1 AND failure_count > 0`,
);

/** Stores the time at which an attempt turned out to have failed. */
export async function touchSignInAttempt(db: Queryable, subjectHash: Buffer, at: Timestamp): Promise<void> {
  await db.query(touchSignInAttemptRow, [subjectHash, new Date(at).toISOString()]);
}

const touchSignInAttemptRow = statement<never>(
  "touch_sign_in_attempt",
  "global",
  "UPDATE sign_in_backoff SET last_failed_at = greatest(last_failed_at, $2::timestamptz) WHERE subject_hash = $1",
);

export async function clearSignInAttempts(db: Queryable, subjectHash: Buffer): Promise<void> {
  await db.query(clearSignInAttemptRow, [subjectHash]);
}

const clearSignInAttemptRow = statement<never>(
  "clear_sign_in_attempts",
  "global",
  "DELETE FROM sign_in_backoff WHERE subject_hash = $1",
);

/** Deletes old counts of attempts, at most `limit`, and returns how many. */
export async function deleteOldSignInAttempts(db: Queryable, failedBefore: Timestamp, limit: number): Promise<number> {
  const rows = await db.query(deleteOldSignInAttemptRows, [new Date(failedBefore).toISOString(), limit]);
  return rows.length;
}

const deleteOldSignInAttemptRows = statement<{ deleted: number }>(
  "delete_old_sign_in_attempts",
  "global",
  `DELETE FROM sign_in_backoff
   WHERE subject_hash = ANY(ARRAY(SELECT subject_hash FROM sign_in_backoff WHERE last_failed_at < $1 LIMIT $2))
     AND last_failed_at < $1
   RETURNING 1 AS deleted`,
);
