import type { Timestamp } from "../../core/job/job-state.ts";
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

/** Whether anybody was ever made: the first one is made by the service itself. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  const rows = await db.query(findAnyUser, []);
  return rows.length > 0;
}

const findAnyUser = statement<{ found: number }>("find_any_user", "global", "SELECT 1 AS found FROM app_user LIMIT 1");
