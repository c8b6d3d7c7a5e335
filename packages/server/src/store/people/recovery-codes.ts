import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** Stores new recovery codes, and ends the earlier ones. */
export async function replaceRecoveryCodes(
  transaction: Transaction,
  userId: string,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await transaction.query(deleteRecoveryCodeRows, [userId]);
  if (codeHashes.length > 0) await transaction.query(insertRecoveryCodeRows, [userId, codeHashes]);
}

const deleteRecoveryCodeRows = statement<never>(
  "delete_recovery_codes",
  "global",
  "DELETE FROM recovery_code WHERE user_id = $1",
);

const insertRecoveryCodeRows = statement<never>(
  "insert_recovery_codes",
  "global",
  "INSERT INTO recovery_code (user_id, code_hash) SELECT $1, unnest($2::bytea[])",
);

/** Uses a recovery code. Returns false when it does not exist or was used before, so only one of two requests with the same code succeeds. */
export async function useRecoveryCode(
  db: Queryable,
  userId: string,
  codeHash: Buffer,
  at: Timestamp,
): Promise<boolean> {
  const rows = await db.query(useRecoveryCodeRow, [userId, codeHash, new Date(at).toISOString()]);
  return rows.length > 0;
}

const useRecoveryCodeRow = statement<{ used: number }>(
  "use_recovery_code",
  "global",
  `UPDATE recovery_code SET used_at = $3
   WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL
   RETURNING 1 AS used`,
);
