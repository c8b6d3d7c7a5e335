import type { EntryText, SealedEntry } from "../core/audit-chain.ts";
import { type Queryable, statement, type Transaction } from "./database.ts";

/** With microseconds, as the column keeps them: JavaScript's milliseconds would hide a change of the rest. */
const exactTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

export const entryTextColumns = `
  audit_entry.organization_id AS "organizationId", audit_entry.entry_id AS "entryId",
  ${exactTime("audit_entry.recorded_at")} AS "recordedAt", audit_entry.actor::text AS actor, audit_entry.actor_id AS "actorId",
  audit_entry.action, audit_entry.outcome, audit_entry.target_type AS "targetType", audit_entry.target_id AS "targetId",
  audit_entry.request_id AS "requestId", audit_entry.address, audit_entry.details::text AS details`;

/** Organizations with entries that can be sealed, in the order of their ids. */
export async function findUnsealedOrganizations(
  db: Queryable,
  afterOrganizationId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(findUnsealedOrganizationRows, [afterOrganizationId, limit]);
  return rows.map((row) => row.organizationId);
}

const findUnsealedOrganizationRows = statement<{ organizationId: string }>(
  "find_unsealed_organizations",
  "maintenance",
  `SELECT DISTINCT organization_id AS "organizationId"
   FROM audit_unsealed
   WHERE $1::uuid IS NULL OR organization_id > $1
   ORDER BY organization_id
   LIMIT $2`,
);

export interface Seal {
  readonly sealNumber: number;
  readonly entryCount: number;
  readonly previousHash: string;
  readonly hash: string;
  readonly sealedAt: string;
}

export const sealColumns = `
  seal_number AS "sealNumber", entry_count AS "entryCount", encode(previous_hash, 'hex') AS "previousHash",
  encode(hash, 'hex') AS hash, ${exactTime("sealed_at")} AS "sealedAt"`;

export async function findNewestSeal(db: Queryable, organizationId: string): Promise<Seal | undefined> {
  const [row] = await db.query(findNewestSealRow, [organizationId]);
  return row;
}

const findNewestSealRow = statement<Seal>(
  "find_newest_audit_seal",
  "organization",
  `SELECT ${sealColumns}
   FROM audit_seal
   WHERE organization_id = $1
   ORDER BY seal_number DESC
   LIMIT 1`,
);

/** Entries that wait for a seal, in the order of their ids, which is that of their times. */
export async function findUnsealedEntries(db: Queryable, organizationId: string, limit: number): Promise<EntryText[]> {
  return await db.query(findUnsealedEntryRows, [organizationId, limit]);
}

const findUnsealedEntryRows = statement<EntryText>(
  "find_unsealed_audit_entries",
  "organization",
  `SELECT ${entryTextColumns}
   FROM audit_unsealed
   JOIN audit_entry ON audit_entry.organization_id = audit_unsealed.organization_id
     AND audit_entry.entry_id = audit_unsealed.entry_id
   LEFT JOIN audit_sealed ON audit_sealed.organization_id = audit_unsealed.organization_id
     AND audit_sealed.entry_id = audit_unsealed.entry_id
   WHERE audit_unsealed.organization_id = $1 AND audit_entry.organization_id = $1 AND audit_sealed.entry_id IS NULL
   ORDER BY audit_unsealed.entry_id
   LIMIT $2`,
  "each-time",
);

export interface NewSeal extends Omit<Seal, "entryCount"> {
  readonly organizationId: string;
  readonly entries: readonly SealedEntry[];
}

/** False when another node made the seal of this number: then nothing is written. Waits for a node that is at it. */
export async function insertSeal(transaction: Transaction, seal: NewSeal): Promise<boolean> {
  const { organizationId, sealNumber, entries } = seal;
  const inserted = await transaction.query(insertSealRow, [
    organizationId,
    sealNumber,
    entries.length,
    Buffer.from(seal.previousHash, "hex"),
    Buffer.from(seal.hash, "hex"),
    seal.sealedAt,
  ]);
  if (inserted.length === 0) return false;
  const entryIds = entries.map((entry) => entry.entryId);
  const entryHashes = entries.map((entry) => Buffer.from(entry.entryHash, "hex"));
  await transaction.query(insertSealedRows, [organizationId, sealNumber, entryIds, entryHashes]);
  await transaction.query(deleteUnsealedRows, [organizationId, entryIds]);
  return true;
}

const insertSealRow = statement<{ sealNumber: number }>(
  "insert_audit_seal",
  "organization",
  `INSERT INTO audit_seal (organization_id, seal_number, entry_count, previous_hash, hash, sealed_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (organization_id, seal_number) DO NOTHING
   RETURNING seal_number AS "sealNumber"`,
);

const insertSealedRows = statement<never>(
  "insert_audit_sealed",
  "organization",
  `INSERT INTO audit_sealed (organization_id, seal_number, entry_id, entry_hash)
   SELECT $1::uuid, $2::integer, entry_id, entry_hash
   FROM unnest($3::uuid[], $4::bytea[]) AS covered (entry_id, entry_hash)`,
);

const deleteUnsealedRows = statement<never>(
  "delete_audit_unsealed",
  "organization",
  "DELETE FROM audit_unsealed WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])",
);
