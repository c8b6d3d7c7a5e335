import type { Timestamp } from "../../core/job/job-state.ts";
import type { TokenUse } from "../access/tokens.ts";
import { type Queryable, statement } from "../home/database.ts";

export interface User {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly createdAt: Timestamp;
}

/** Fails with a unique violation when the e-mail address is taken. */
export async function insertUser(db: Queryable, user: User): Promise<void> {
  await db.query(insertUserRow, [user.userId, user.email, user.displayName, new Date(user.createdAt).toISOString()]);
}

const insertUserRow = statement<never>(
  "insert_user",
  "global",
  "INSERT INTO app_user (user_id, email, display_name, created_at) VALUES ($1, $2, $3, $4)",
);

export async function findUserByEmail(db: Queryable, email: string): Promise<User | undefined> {
  const [row] = await db.query(findUserByEmailRow, [email]);
  return row;
}

const findUserByEmailRow = statement<User>(
  "find_user_by_email",
  "global",
  `SELECT user_id AS "userId", email, display_name AS "displayName", created_at AS "createdAt"
   FROM app_user
   WHERE lower(email) = lower($1)`,
);

export async function findUsers(db: Queryable, userIds: readonly string[]): Promise<User[]> {
  if (userIds.length === 0) return [];
  return await db.query(findUserRows, [userIds]);
}

const findUserRows = statement<User>(
  "find_users",
  "global",
  `SELECT user_id AS "userId", email, display_name AS "displayName", created_at AS "createdAt"
   FROM app_user
   WHERE user_id = ANY($1::uuid[])`,
);

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

/** The user token that a request carries, unless it was revoked or its user is disabled. */
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

/** Whether anybody was ever made: the first one is made by the service itself. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  const rows = await db.query(findAnyUser, []);
  return rows.length > 0;
}

const findAnyUser = statement<{ found: number }>("find_any_user", "global", "SELECT 1 AS found FROM app_user LIMIT 1");
