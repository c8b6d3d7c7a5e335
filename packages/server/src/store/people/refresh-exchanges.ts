import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

export interface RefreshClaim {
  readonly tokenHash: Buffer;
  readonly clientId: string;
  readonly claimId: string;
}

export interface HeldRefresh {
  readonly clientId: string;
  readonly claimId: string;
  /** The sealed answer; null until the exchange is done. */
  readonly answer: Buffer | null;
}

/**
 * Claims the exchange of a refresh token, and returns the claim. If the exchange was already claimed after `claimedAfter`, the earlier claim stays
 * and is returned.
 */
export async function claimRefreshExchange(
  transaction: Transaction,
  { tokenHash, clientId, claimId }: RefreshClaim,
  now: Timestamp,
  claimedAfter: Timestamp,
): Promise<HeldRefresh> {
  const times = [now, claimedAfter].map((at) => new Date(at).toISOString());
  const [held] = await transaction.query(claimRefreshExchangeRow, [tokenHash, clientId, claimId, ...times]);
  if (held === undefined) throw new Error("The exchange of the refresh token was not claimed.");
  return held;
}

const claimRefreshExchangeRow = statement<HeldRefresh>(
  "claim_refresh_exchange",
  "global",
  `INSERT INTO refresh_exchange AS held (token_hash, client_id, claim_id, claimed_at)
   VALUES ($1, $2, $3, $4::timestamptz)
   ON CONFLICT (token_hash) DO UPDATE
   SET client_id = CASE WHEN held.claimed_at < $5::timestamptz THEN excluded.client_id ELSE held.client_id END,
     claim_id = CASE WHEN held.claimed_at < $5::timestamptz THEN excluded.claim_id ELSE held.claim_id END,
     answer = CASE WHEN held.claimed_at < $5::timestamptz THEN NULL ELSE held.answer END,
     claimed_at = CASE WHEN held.claimed_at < $5::timestamptz THEN excluded.claimed_at ELSE held.claimed_at END
   RETURNING client_id AS "clientId", claim_id AS "claimId", answer`,
);

export async function storeRefreshAnswer(transaction: Transaction, tokenHash: Buffer, answer: Buffer): Promise<void> {
  await transaction.query(storeRefreshAnswerRow, [tokenHash, answer]);
}

const storeRefreshAnswerRow = statement<never>(
  "store_refresh_answer",
  "global",
  "UPDATE refresh_exchange SET answer = $2 WHERE token_hash = $1",
);

export async function deleteRefreshExchange(transaction: Transaction, tokenHash: Buffer): Promise<void> {
  await transaction.query(deleteRefreshExchangeRow, [tokenHash]);
}

const deleteRefreshExchangeRow = statement<never>(
  "delete_refresh_exchange",
  "global",
  "DELETE FROM refresh_exchange WHERE token_hash = $1",
);

/** Deletes at most `limit` exchanges whose answers are not repeated any more. Returns how many. */
export async function deleteOldRefreshExchanges(
  db: Queryable,
  claimedBefore: Timestamp,
  limit: number,
): Promise<number> {
  const rows = await db.query(deleteOldRefreshExchangeRows, [new Date(claimedBefore).toISOString(), limit]);
  return rows.length;
}

const deleteOldRefreshExchangeRows = statement<{ tokenHash: Buffer }>(
  "delete_old_refresh_exchanges",
  "global",
  `DELETE FROM refresh_exchange
   WHERE token_hash IN (SELECT token_hash FROM refresh_exchange WHERE claimed_at < $1 LIMIT $2)
   RETURNING token_hash AS "tokenHash"`,
);
