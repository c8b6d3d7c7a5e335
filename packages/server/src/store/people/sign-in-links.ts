import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

export interface SignInLink {
  readonly userId: string;
  readonly linkHash: Buffer;
  readonly expiresAt: Timestamp;
}

/** Stores a link, and ends the user's earlier link. */
export async function replaceSignInLink(db: Queryable, { userId, linkHash, expiresAt }: SignInLink): Promise<void> {
  await db.query(replaceSignInLinkRow, [userId, linkHash, new Date(expiresAt).toISOString()]);
}

const replaceSignInLinkRow = statement<never>(
  "replace_sign_in_link",
  "global",
  `INSERT INTO sign_in_link (user_id, link_hash, expires_at)
   VALUES ($1, $2, $3)
   ON CONFLICT (user_id) DO UPDATE
   SET link_hash = excluded.link_hash, expires_at = excluded.expires_at`,
);

/** Uses a link, and returns the user whom it signs in. If several people open the link at the same time, it works for one of them. */
export async function useSignInLink(db: Queryable, linkHash: Buffer, at: Timestamp): Promise<string | undefined> {
  const [row] = await db.query(useSignInLinkRow, [linkHash, new Date(at).toISOString()]);
  return row?.userId;
}

const useSignInLinkRow = statement<{ userId: string }>(
  "use_sign_in_link",
  "global",
  `DELETE FROM sign_in_link WHERE link_hash = $1 AND expires_at > $2 RETURNING user_id AS "userId"`,
);

/** Deletes expired links. A user has at most one, so one statement can delete all of them. */
export async function deleteExpiredSignInLinks(db: Queryable, at: Timestamp): Promise<void> {
  await db.query(deleteExpiredSignInLinkRows, [new Date(at).toISOString()]);
}

const deleteExpiredSignInLinkRows = statement<never>(
  "delete_expired_sign_in_links",
  "global",
  "DELETE FROM sign_in_link WHERE expires_at <= $1",
);
