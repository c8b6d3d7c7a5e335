import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

export interface PasswordLink {
  readonly userId: string;
  readonly linkHash: Buffer;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  /** The user token that was made together with the link. Using the link revokes the user's other tokens, but not this one. */
  readonly keptTokenId: string | null;
}

/** Stores a link, and ends the user's earlier link. */
export async function replacePasswordLink(db: Queryable, link: PasswordLink): Promise<void> {
  await db.query(replacePasswordLinkRow, [
    link.userId,
    link.linkHash,
    JSON.stringify(link.createdBy),
    new Date(link.createdAt).toISOString(),
    new Date(link.expiresAt).toISOString(),
    link.keptTokenId,
  ]);
}

const replacePasswordLinkRow = statement<never>(
  "replace_password_link",
  "global",
  `INSERT INTO password_link (user_id, link_hash, created_by, created_at, expires_at, kept_token_id)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (user_id) DO UPDATE
   SET link_hash = excluded.link_hash, created_by = excluded.created_by, created_at = excluded.created_at,
     expires_at = excluded.expires_at, kept_token_id = excluded.kept_token_id`,
);

export interface PasswordLinkUser {
  readonly userId: string;
  readonly email: string;
  readonly createdBy: Actor;
}

/** Finds the user whose password a link sets. Undefined when there is no such link, when it has expired, or when the user is disabled. */
export async function findUserOfPasswordLink(
  db: Queryable,
  linkHash: Buffer,
  at: Timestamp,
): Promise<PasswordLinkUser | undefined> {
  const [row] = await db.query(findUserOfPasswordLinkRow, [linkHash, new Date(at).toISOString()]);
  return row;
}

const findUserOfPasswordLinkRow = statement<PasswordLinkUser>(
  "find_user_of_password_link",
  "global",
  `SELECT app_user.user_id AS "userId", app_user.email, password_link.created_by AS "createdBy"
   FROM password_link
   JOIN app_user USING (user_id)
   WHERE password_link.link_hash = $1 AND password_link.expires_at > $2 AND app_user.disabled_at IS NULL`,
);

/** Uses a link. Returns undefined when the link was already used or has ended, so that of two people who use it only one sets the password. */
export async function usePasswordLink(
  transaction: Transaction,
  userId: string,
  linkHash: Buffer,
  at: Timestamp,
): Promise<Pick<PasswordLink, "keptTokenId"> | undefined> {
  const [row] = await transaction.query(usePasswordLinkRow, [userId, linkHash, new Date(at).toISOString()]);
  return row;
}

const usePasswordLinkRow = statement<Pick<PasswordLink, "keptTokenId">>(
  "use_password_link",
  "global",
  `DELETE FROM password_link
   WHERE user_id = $1 AND link_hash = $2 AND expires_at > $3
   RETURNING kept_token_id AS "keptTokenId"`,
);

export async function endPasswordLink(db: Queryable, userId: string): Promise<void> {
  await db.query(endPasswordLinkRow, [userId]);
}

const endPasswordLinkRow = statement<never>(
  "end_password_link",
  "global",
  "DELETE FROM password_link WHERE user_id = $1",
);

/** Deletes expired links. A user has at most one, so one statement can delete all of them. */
export async function deleteExpiredPasswordLinks(db: Queryable, at: Timestamp): Promise<void> {
  await db.query(deleteExpiredPasswordLinkRows, [new Date(at).toISOString()]);
}

const deleteExpiredPasswordLinkRows = statement<never>(
  "delete_expired_password_links",
  "global",
  "DELETE FROM password_link WHERE expires_at <= $1",
);
