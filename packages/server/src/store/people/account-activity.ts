import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** The actions in the history of an account. The names are in the past tense, because the actions have happened. */
export type AccountAction =
  | "account-created"
  | "account-renamed"
  | "signed-in"
  | "signed-out"
  | "sign-in-refused"
  | "session-ended"
  | "refresh-token-reused"
  | "authorization-code-reused"
  | "password-changed"
  | "password-set-by-link"
  | "password-link-made"
  | "sign-in-link-made"
  | "second-factor-started"
  | "second-factor-enabled"
  | "second-factor-disabled"
  | "second-factor-removed"
  | "recovery-code-used"
  | "recovery-codes-renewed"
  | "user-token-created"
  | "user-token-revoked"
  | "identity-linked"
  | "organization-maximum-set"
  | "account-disabled"
  | "account-enabled";

export interface AccountActivity {
  readonly userId: string;
  /** A UUID version 7, so that the order of ids is the order of times. */
  readonly activityId: string;
  readonly happenedAt: Timestamp;
  readonly action: AccountAction;
  /** The address from which the request came; "" for the command line. */
  readonly address: string;
  readonly details: Readonly<Record<string, string>>;
}

/**
 * Records an activity. For a user who does not exist, the statement costs the same but writes nothing, so that the response time does not reveal
 * whether an e-mail address is known.
 */
export async function insertAccountActivity(db: Queryable, activity: AccountActivity): Promise<void> {
  await db.query(insertAccountActivityRow, [
    activity.userId,
    activity.activityId,
    new Date(activity.happenedAt).toISOString(),
    activity.action,
    activity.address,
    JSON.stringify(activity.details),
  ]);
}

const insertAccountActivityRow = statement<never>(
  "insert_account_activity",
  "global",
  `INSERT INTO account_activity (user_id, activity_id, happened_at, action, address, details)
   SELECT user_id, $2::uuid, $3::timestamptz, $4::text, $5::text, $6::json
   FROM app_user
   WHERE user_id = $1`,
);

/** Lists the activities before `beforeActivityId`, newest first. */
export async function listAccountActivity(
  db: Queryable,
  userId: string,
  beforeActivityId: string | null,
  limit: number,
): Promise<AccountActivity[]> {
  return await db.query(listAccountActivityRows, [userId, beforeActivityId, limit]);
}

const listAccountActivityRows = statement<AccountActivity>(
  "list_account_activity",
  "global",
  `SELECT user_id AS "userId", activity_id AS "activityId", happened_at AS "happenedAt", action, address, details
   FROM account_activity
   WHERE user_id = $1 AND ($2::uuid IS NULL OR activity_id < $2)
   ORDER BY activity_id DESC
   LIMIT $3`,
  "each-time",
);

/** Deletes old activities, at most `limit`, and returns how many. */
export async function deleteOldAccountActivity(
  db: Queryable,
  happenedBefore: Timestamp,
  limit: number,
): Promise<number> {
  const rows = await db.query(deleteOldAccountActivityRows, [new Date(happenedBefore).toISOString(), limit]);
  return rows.length;
}

const deleteOldAccountActivityRows = statement<{ deleted: number }>(
  "delete_old_account_activity",
  "global",
  `DELETE FROM account_activity
   WHERE (user_id, activity_id) IN (SELECT user_id, activity_id FROM account_activity WHERE happened_at < $1 LIMIT $2)
   RETURNING 1 AS deleted`,
);
