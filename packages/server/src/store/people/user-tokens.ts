import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { TokenUse } from "./token-use.ts";

export interface UserToken {
  readonly userId: string;
  readonly tokenId: string;
  readonly name: string;
  readonly tokenPrefix: string;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp | null;
}

export async function insertUserToken(db: Queryable, token: UserToken, tokenHash: Buffer): Promise<void> {
  await db.query(insertUserTokenRow, [
    token.userId,
    token.tokenId,
    token.name,
    tokenHash,
    new Date(token.createdAt).toISOString(),
    token.expiresAt === null ? null : new Date(token.expiresAt).toISOString(),
    token.tokenPrefix,
  ]);
}

const insertUserTokenRow = statement<never>(
  "insert_user_token",
  "global",
  `INSERT INTO user_token (user_id, token_id, name, token_hash, created_at, expires_at, token_prefix)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export interface UserTokenIdentity {
  readonly tokenId: string;
  readonly userName: string;
  readonly expiresAt: Timestamp | null;
  readonly lastUsedAt: Timestamp | null;
}

/** Finds the user token that a request carries, unless it was revoked or its user is disabled. */
export async function findUserTokenByHash(
  db: Queryable,
  userId: string,
  tokenHash: Buffer,
): Promise<UserTokenIdentity | undefined> {
  const [row] = await db.query(findUserTokenByHashRow, [userId, tokenHash]);
  return row;
}

const findUserTokenByHashRow = statement<UserTokenIdentity>(
  "find_user_token_by_hash",
  "global",
  `SELECT user_token.token_id AS "tokenId", app_user.display_name AS "userName", user_token.expires_at AS "expiresAt",
     user_token.last_used_at AS "lastUsedAt"
   FROM user_token
   JOIN app_user USING (user_id)
   WHERE user_token.user_id = $1 AND user_token.token_hash = $2 AND user_token.revoked_at IS NULL
     AND app_user.disabled_at IS NULL`,
);

export async function touchUserTokens(db: Queryable, uses: readonly TokenUse[]): Promise<void> {
  if (uses.length === 0) return;
  await db.query(touchUserTokenRows, [
    uses.map((use) => use.ownerId),
    uses.map((use) => use.tokenId),
    uses.map((use) => new Date(use.usedAt).toISOString()),
  ]);
}

const touchUserTokenRows = statement<never>(
  "touch_user_tokens",
  "global",
  `UPDATE user_token
   SET last_used_at = used.at
   FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS used (user_id, token_id, at)
   WHERE user_token.user_id = used.user_id AND user_token.token_id = used.token_id
     AND (user_token.last_used_at IS NULL OR user_token.last_used_at < used.at)`,
);

export type ListedUserToken = UserToken & { readonly lastUsedAt: Timestamp | null };

/** Lists the tokens before `beforeTokenId`, newest first. Revoked tokens are not listed. */
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

/** Counts the user's valid tokens, which are neither revoked nor expired. */
export async function countUserTokens(db: Queryable, userId: string, now: Timestamp): Promise<number> {
  const [row] = await db.query(countUserTokenRows, [userId, new Date(now).toISOString()]);
  return row?.count ?? 0;
}

const countUserTokenRows = statement<{ count: number }>(
  "count_user_tokens",
  "global",
  `SELECT count(*)::integer AS count
   FROM user_token
   WHERE user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
);

/** Whether the token exists and is not revoked. The caller checks whether it has expired. */
export async function isUserTokenHeld(db: Queryable, userId: string, tokenId: string): Promise<boolean> {
  const rows = await db.query(findHeldUserToken, [userId, tokenId]);
  return rows.length > 0;
}

const findHeldUserToken = statement<{ found: number }>(
  "find_held_user_token",
  "global",
  "SELECT 1 AS found FROM user_token WHERE user_id = $1 AND token_id = $2 AND revoked_at IS NULL",
);

/** Revokes a token. Returns its hash and its name; undefined when there was none to revoke. */
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

/** Revokes the user's tokens, except `keptTokenId`. Returns how many. */
export async function revokeOtherUserTokens(
  db: Queryable,
  userId: string,
  keptTokenId: string | null,
  at: Timestamp,
): Promise<number> {
  const rows = await db.query(revokeOtherUserTokenRows, [userId, keptTokenId, new Date(at).toISOString()]);
  return rows.length;
}

const revokeOtherUserTokenRows = statement<{ tokenId: string }>(
  "revoke_other_user_tokens",
  "global",
  `UPDATE user_token
   SET revoked_at = $3
   WHERE user_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR token_id <> $2)
   RETURNING token_id AS "tokenId"`,
);
