import type { JsonValue } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import type { ClaimedKey, KeyClaim } from "../jobs/idempotency.ts";

export type UserKeyClaim = Omit<KeyClaim, "organizationId"> & { readonly userId: string };
export type ClaimedUserKey = Omit<ClaimedKey, "organizationId">;

/**
 * Claims a key, like `claimKeys`, for a request that a user makes outside of any organization, for example to create an organization or a user token.
 */
export async function claimUserKey(
  transaction: Transaction,
  claim: UserKeyClaim,
  now: Timestamp,
  lifeHours: number,
): Promise<ClaimedUserKey> {
  const [held] = await transaction.query(claimUserKeyRow, [
    claim.userId,
    claim.idempotencyKey,
    claim.requestHash,
    claim.claimId,
    new Date(now).toISOString(),
    new Date(now - lifeHours * 3_600_000).toISOString(),
  ]);
  if (held === undefined) throw new Error("The idempotency key was not claimed.");
  return held;
}

const claimUserKeyRow = statement<ClaimedUserKey>(
  "claim_user_idempotency_key",
  "global",
  `INSERT INTO user_idempotency_key AS held (user_id, idempotency_key, request_hash, claim_id, created_at)
   VALUES ($1, $2, $3, $4, $5::timestamptz)
   ON CONFLICT (user_id, idempotency_key) DO UPDATE
   SET request_hash = CASE WHEN held.created_at < $6::timestamptz THEN excluded.request_hash ELSE held.request_hash END,
     claim_id = CASE WHEN held.created_at < $6::timestamptz THEN excluded.claim_id ELSE held.claim_id END,
     answer = CASE WHEN held.created_at < $6::timestamptz THEN NULL ELSE held.answer END,
     created_at = CASE WHEN held.created_at < $6::timestamptz THEN excluded.created_at ELSE held.created_at END
   RETURNING idempotency_key AS "idempotencyKey", request_hash AS "requestHash", claim_id AS "claimId", answer`,
);

export async function storeUserAnswer(
  transaction: Transaction,
  userId: string,
  idempotencyKey: string,
  answer: JsonValue,
): Promise<void> {
  await transaction.query(storeUserAnswerRow, [userId, idempotencyKey, JSON.stringify(answer)]);
}

const storeUserAnswerRow = statement<never>(
  "store_user_idempotent_answer",
  "global",
  "UPDATE user_idempotency_key SET answer = $3 WHERE user_id = $1 AND idempotency_key = $2",
);

/** Deletes expired keys, at most `limit`, and returns how many. */
export async function deleteExpiredUserKeys(db: Queryable, expiredBefore: Timestamp, limit: number): Promise<number> {
  const rows = await db.query(deleteExpiredUserKeyRows, [new Date(expiredBefore).toISOString(), limit]);
  return rows.length;
}

/** The age is checked again, because the key may have been claimed anew after it was found. */
const deleteExpiredUserKeyRows = statement<{ deleted: number }>(
  "delete_expired_user_idempotency_keys",
  "global",
  `DELETE FROM user_idempotency_key
   WHERE (user_id, idempotency_key) IN
     (SELECT user_id, idempotency_key FROM user_idempotency_key WHERE created_at < $1 LIMIT $2)
     AND created_at < $1
   RETURNING 1 AS deleted`,
);
