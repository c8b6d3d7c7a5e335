import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { UserToken } from "./users.ts";

export type ListedUserToken = UserToken & { readonly lastUsedAt: Timestamp | null };

/** Newest first, from before `beforeTokenId`. Revoked tokens are gone. */
export async function listUserTokens(
  db: Queryable,
  userId: string,
  beforeTokenId: string | null,
  limit: number,
): Promise<ListedUserToken[]> {
  return await db.query(listUserTokenRows, [userId, beforeTokenId, limit]);
}

const listUserTokenRows = statement<ListedUserToken>(
  "list_user_tokens",
  "global",
  `SELECT user_id AS "userId", token_id AS "tokenId", name, token_prefix AS "tokenPrefix", created_at AS "createdAt",
     expires_at AS "expiresAt", last_used_at AS "lastUsedAt"
   FROM user_token
   WHERE user_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR token_id < $2)
   ORDER BY token_id DESC
   LIMIT $3`,
  "each-time",
);

/** Whether it is there and was not revoked. Its expiry is for the caller to judge. */
export async function isUserTokenHeld(db: Queryable, userId: string, tokenId: string): Promise<boolean> {
  const rows = await db.query(findHeldUserToken, [userId, tokenId]);
  return rows.length > 0;
}

const findHeldUserToken = statement<{ found: number }>(
  "find_held_user_token",
  "global",
  "SELECT 1 AS found FROM user_token WHERE user_id = $1 AND token_id = $2 AND revoked_at IS NULL",
);

/** Answers hash and name of the token that is now revoked; undefined when there was none to revoke. */
export async function revokeUserToken(
  db: Queryable,
  userId: string,
  tokenId: string,
  at: Timestamp,
): Promise<{ readonly tokenHash: Buffer; readonly name: string } | undefined> {
  const [row] = await db.query(revokeUserTokenRow, [userId, tokenId, new Date(at).toISOString()]);
  return row;
}

const revokeUserTokenRow = statement<{ tokenHash: Buffer; name: string }>(
  "revoke_user_token",
  "global",
  `UPDATE user_token
   SET revoked_at = $3
   WHERE user_id = $1 AND token_id = $2 AND revoked_at IS NULL
   RETURNING token_hash AS "tokenHash", name`,
);

export async function revokeAllUserTokens(db: Queryable, userId: string, at: Timestamp): Promise<void> {
  await db.query(revokeAllUserTokenRows, [userId, new Date(at).toISOString()]);
}

const revokeAllUserTokenRows = statement<never>(
  "revoke_all_user_tokens",
  "global",
  "UPDATE user_token SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL",
);
