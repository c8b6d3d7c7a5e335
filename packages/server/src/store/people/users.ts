import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

export interface User {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly createdAt: Timestamp;
}

/** Inserts a user. Fails with a unique violation when the e-mail address is taken. */
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

/**
 * Returns how many organizations the user may create (null for the configured maximum), and locks the user until the transaction ends, so that two
 * requests of one user run one after the other. The lock is a write, as in `holdCredentials`.
 */
export async function holdOrganizationMaximum(transaction: Transaction, userId: string): Promise<number | null> {
  const [row] = await transaction.query(holdOrganizationMaximumRow, [userId]);
  return row?.maximum ?? null;
}

const holdOrganizationMaximumRow = statement<{ maximum: number | null }>(
  "hold_organization_maximum",
  "global",
  `UPDATE app_user SET max_organizations = max_organizations WHERE user_id = $1 RETURNING max_organizations AS maximum`,
);

/** Reads the maximum of `holdOrganizationMaximum` without locking the user. */
export async function findOrganizationMaximum(db: Queryable, userId: string): Promise<number | null> {
  const [row] = await db.query(findOrganizationMaximumRow, [userId]);
  return row?.maximum ?? null;
}

const findOrganizationMaximumRow = statement<{ maximum: number | null }>(
  "find_organization_maximum",
  "global",
  "SELECT max_organizations AS maximum FROM app_user WHERE user_id = $1",
);

/** Sets how many organizations the user may create; null for the configured maximum. */
export async function setOrganizationMaximum(db: Queryable, userId: string, maximum: number | null): Promise<void> {
  await db.query(setOrganizationMaximumRow, [userId, maximum]);
}

const setOrganizationMaximumRow = statement<never>(
  "set_organization_maximum",
  "global",
  "UPDATE app_user SET max_organizations = $2 WHERE user_id = $1",
);

export async function hasUsers(db: Queryable): Promise<boolean> {
  const rows = await db.query(findAnyUser, []);
  return rows.length > 0;
}

const findAnyUser = statement<{ found: number }>("find_any_user", "global", "SELECT 1 AS found FROM app_user LIMIT 1");
