import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** A record of the OpenID provider. Ids and codes are stored as hashes, and the payload is sealed, so a reader of the table can use none of them. */
export interface OidcRecord {
  readonly kind: string;
  readonly recordHash: Buffer;
  /** The hash of the grant under which the record was issued. */
  readonly grantHash: Buffer | null;
  readonly uidHash: Buffer | null;
  readonly userCodeHash: Buffer | null;
  readonly payload: Buffer;
  readonly expiresAt: Timestamp | null;
}

/** Inserts a record, or updates it. The mark that it was consumed stays unchanged. */
export async function saveOidcRecord(db: Queryable, record: OidcRecord): Promise<void> {
  await db.query(saveOidcRecordRow, [
    record.kind,
    record.recordHash,
    record.grantHash,
    record.uidHash,
    record.userCodeHash,
    record.payload,
    record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
  ]);
}

const saveOidcRecordRow = statement<never>(
  "save_oidc_record",
  "global",
  `INSERT INTO oidc_record (kind, record_hash, grant_hash, uid_hash, user_code_hash, payload, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (kind, record_hash) DO UPDATE
   SET grant_hash = excluded.grant_hash, uid_hash = excluded.uid_hash, user_code_hash = excluded.user_code_hash,
     payload = excluded.payload, expires_at = excluded.expires_at`,
);

export interface FoundOidcRecord {
  readonly recordHash: Buffer;
  readonly payload: Buffer;
  readonly consumedAt: Timestamp | null;
}

const foundColumns = 'record_hash AS "recordHash", payload, consumed_at AS "consumedAt"';

export async function findOidcRecord(
  db: Queryable,
  kind: string,
  recordHash: Buffer,
): Promise<FoundOidcRecord | undefined> {
  const [row] = await db.query(findOidcRecordRow, [kind, recordHash]);
  return row;
}

const findOidcRecordRow = statement<FoundOidcRecord>(
  "find_oidc_record",
  "global",
  `SELECT ${foundColumns} FROM oidc_record WHERE kind = $1 AND record_hash = $2`,
);

export async function findOidcRecordByUid(
  db: Queryable,
  kind: string,
  uidHash: Buffer,
): Promise<FoundOidcRecord | undefined> {
  const [row] = await db.query(findOidcRecordByUidRow, [kind, uidHash]);
  return row;
}

const findOidcRecordByUidRow = statement<FoundOidcRecord>(
  "find_oidc_record_by_uid",
  "global",
  `SELECT ${foundColumns} FROM oidc_record WHERE kind = $1 AND uid_hash = $2 LIMIT 1`,
);

export async function findOidcRecordByUserCode(
  db: Queryable,
  kind: string,
  userCodeHash: Buffer,
): Promise<FoundOidcRecord | undefined> {
  const [row] = await db.query(findOidcRecordByUserCodeRow, [kind, userCodeHash]);
  return row;
}

const findOidcRecordByUserCodeRow = statement<FoundOidcRecord>(
  "find_oidc_record_by_user_code",
  "global",
  `SELECT ${foundColumns} FROM oidc_record WHERE kind = $1 AND user_code_hash = $2 LIMIT 1`,
);

/** Consumes a record that can be used once. Returns false when another request was faster, or the record is gone. */
export async function consumeOidcRecord(
  db: Queryable,
  kind: string,
  recordHash: Buffer,
  at: Timestamp,
): Promise<boolean> {
  const rows = await db.query(consumeOidcRecordRow, [kind, recordHash, new Date(at).toISOString()]);
  return rows.length > 0;
}

const consumeOidcRecordRow = statement<{ recordHash: Buffer }>(
  "consume_oidc_record",
  "global",
  `UPDATE oidc_record
   SET consumed_at = $3
   WHERE kind = $1 AND record_hash = $2 AND consumed_at IS NULL
   RETURNING record_hash AS "recordHash"`,
);

export async function deleteOidcRecord(db: Queryable, kind: string, recordHash: Buffer): Promise<void> {
  await db.query(deleteOidcRecordRow, [kind, recordHash]);
}

const deleteOidcRecordRow = statement<never>(
  "delete_oidc_record",
  "global",
  "DELETE FROM oidc_record WHERE kind = $1 AND record_hash = $2",
);

/** Deletes all records of one kind that were issued under a grant. */
export async function deleteOidcRecordsOfGrant(db: Queryable, kind: string, grantHash: Buffer): Promise<void> {
  await db.query(deleteOidcRecordOfGrantRows, [kind, grantHash]);
}

const deleteOidcRecordOfGrantRows = statement<never>(
  "delete_oidc_records_of_grant",
  "global",
  "DELETE FROM oidc_record WHERE kind = $1 AND grant_hash = $2",
);

/** Deletes grants with all records that were issued under them. */
export async function deleteGrants(db: Queryable, grantHashes: readonly Buffer[]): Promise<void> {
  await db.query(deleteGrantRows, [grantHashes]);
}

const deleteGrantRows = statement<never>(
  "delete_grants",
  "global",
  "DELETE FROM oidc_record WHERE grant_hash = ANY($1::bytea[])",
);

/** Deletes at most `limit` expired records. Returns how many. */
export async function deleteExpiredOidcRecords(
  db: Queryable,
  expiredBefore: Timestamp,
  limit: number,
): Promise<number> {
  const rows = await db.query(deleteExpiredOidcRecordRows, [new Date(expiredBefore).toISOString(), limit]);
  return rows.length;
}

const deleteExpiredOidcRecordRows = statement<{ kind: string }>(
  "delete_expired_oidc_records",
  "global",
  `DELETE FROM oidc_record
   WHERE (kind, record_hash) IN (SELECT kind, record_hash FROM oidc_record WHERE expires_at < $1 LIMIT $2)
   RETURNING kind`,
);
