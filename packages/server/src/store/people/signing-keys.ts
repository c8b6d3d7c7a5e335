import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

export interface StoredSigningKey {
  readonly keyNumber: number;
  readonly keyId: string;
  /** The public key as a JSON Web Key. */
  readonly publicKey: Readonly<Record<string, string>>;
  /** The private key in PKCS #8, sealed. */
  readonly privateKey: Buffer;
  readonly createdAt: Timestamp;
  readonly activeAt: Timestamp;
  readonly retiredAt: Timestamp | null;
}

const signingKeyColumns = `
  key_number AS "keyNumber", key_id AS "keyId", public_key AS "publicKey", private_key AS "privateKey",
  created_at AS "createdAt", active_at AS "activeAt", retired_at AS "retiredAt"`;

/** Lists the keys in the order in which they were made. */
export async function listSigningKeys(db: Queryable): Promise<StoredSigningKey[]> {
  return await db.query(listSigningKeyRows, []);
}

const listSigningKeyRows = statement<StoredSigningKey>(
  "list_signing_keys",
  "global",
  `SELECT ${signingKeyColumns} FROM signing_key ORDER BY key_number`,
);

/** Inserts a key. Returns the key that has this number afterwards, which is another node's if that node was faster. */
export async function insertSigningKey(db: Queryable, key: StoredSigningKey): Promise<StoredSigningKey> {
  const [row] = await db.query(insertSigningKeyRow, [
    key.keyNumber,
    key.keyId,
    JSON.stringify(key.publicKey),
    key.privateKey,
    new Date(key.createdAt).toISOString(),
    new Date(key.activeAt).toISOString(),
  ]);
  if (row === undefined) throw new Error("The signing key was not written.");
  return row;
}

const insertSigningKeyRow = statement<StoredSigningKey>(
  "insert_signing_key",
  "global",
  `INSERT INTO signing_key (key_number, key_id, public_key, private_key, created_at, active_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (key_number) DO UPDATE SET key_number = excluded.key_number
   RETURNING ${signingKeyColumns}`,
);

/** Stores a private key that was sealed anew. Returns false when another node was faster, or the key is gone. */
export async function replacePrivateKey(
  db: Queryable,
  keyNumber: number,
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const rows = await db.query(replacePrivateKeyRow, [keyNumber, before, after]);
  return rows.length > 0;
}

const replacePrivateKeyRow = statement<{ keyNumber: number }>(
  "replace_private_key",
  "global",
  `UPDATE signing_key SET private_key = $3
   WHERE key_number = $1 AND private_key = $2
   RETURNING key_number AS "keyNumber"`,
);

/** Sets the time until which the keys before this one are published. */
export async function retireSigningKeysBefore(
  transaction: Transaction,
  keyNumber: number,
  retiredAt: Timestamp,
): Promise<void> {
  await transaction.query(retireSigningKeyRows, [keyNumber, new Date(retiredAt).toISOString()]);
}

const retireSigningKeyRows = statement<never>(
  "retire_signing_keys",
  "global",
  "UPDATE signing_key SET retired_at = $2 WHERE key_number < $1 AND retired_at IS NULL",
);

export async function deleteRetiredSigningKeys(db: Queryable, now: Timestamp): Promise<void> {
  await db.query(deleteRetiredSigningKeyRows, [new Date(now).toISOString()]);
}

const deleteRetiredSigningKeyRows = statement<never>(
  "delete_retired_signing_keys",
  "global",
  "DELETE FROM signing_key WHERE retired_at <= $1",
);
