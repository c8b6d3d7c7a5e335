import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** A user's account as it is shown to that user. */
export interface Account {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly createdAt: Timestamp;
  readonly hasPassword: boolean;
  readonly secondFactorEnabledAt: Timestamp | null;
  readonly recoveryCodesLeft: number;
}

export async function findAccount(db: Queryable, userId: string): Promise<Account | undefined> {
  const [row] = await db.query(findAccountRow, [userId]);
  return row;
}

const findAccountRow = statement<Account>(
  "find_account",
  "global",
  `SELECT user_id AS "userId", email, display_name AS "displayName", created_at AS "createdAt",
     password_hash IS NOT NULL AS "hasPassword", totp_enabled_at AS "secondFactorEnabledAt",
     (SELECT count(*) FROM recovery_code WHERE recovery_code.user_id = $1 AND used_at IS NULL) AS "recoveryCodesLeft"
   FROM app_user
   WHERE user_id = $1`,
);

export async function renameAccount(transaction: Transaction, userId: string, displayName: string): Promise<void> {
  await transaction.query(renameAccountRow, [userId, displayName]);
}

const renameAccountRow = statement<never>(
  "rename_account",
  "global",
  "UPDATE app_user SET display_name = $2 WHERE user_id = $1",
);
