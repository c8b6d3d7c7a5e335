import type { EntryText, SealedEntry } from "../../core/audit-chain.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { requireAllWritten, type Written } from "../home/written.ts";

/** Formats a time with microseconds, as the column has it. With the milliseconds of JavaScript, a change of the microseconds would not be noticed. */
const exactTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Lists the organizations with entries that wait for a seal, in the order of the organizations' ids. */
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
  "once",
  { order: ["organizationId"] },
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

/*
 * `findSealNumbers` and `findEntryTexts` read the rows of one page by their ids, and the callers join the results outside the database. In a new
 * store without statistics, PostgreSQL planned a join here as a hash join over all rows: a list of 25 took 378 ms instead of 1 ms.
 */

/** Lists the ids of the entries that wait for a seal. Their order is also the order of the entries' times. */
export async function listUnsealedIds(
  db: Queryable,
  organizationId: string,
  afterEntryId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(listUnsealedIdRows, [organizationId, afterEntryId, limit]);
  return rows.map((row) => row.entryId);
}

const listUnsealedIdRows = statement<{ entryId: string }>(
  "list_unsealed_audit_ids",
  "organization",
  `SELECT entry_id AS "entryId"
   FROM audit_unsealed
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR entry_id > $2)
   ORDER BY entry_id
   LIMIT $3`,
  "each-time",
);

/** Finds the seals that cover these entries. Entries without a seal are left out. */
export async function findSealNumbers(
  db: Queryable,
  organizationId: string,
  entryIds: readonly string[],
): Promise<Map<string, number>> {
  if (entryIds.length === 0) return new Map();
  const rows = await db.query(findSealNumberRows, [organizationId, entryIds]);
  return new Map(rows.map(({ entryId, sealNumber }) => [entryId, sealNumber]));
}

const findSealNumberRows = statement<{ entryId: string; sealNumber: number }>(
  "find_audit_seal_numbers",
  "organization",
  `SELECT entry_id AS "entryId", seal_number AS "sealNumber"
   FROM audit_sealed
   WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])`,
  "each-time",
);

/** Finds the texts of these entries. Entries that do not exist are left out. */
export async function findEntryTexts(
  db: Queryable,
  organizationId: string,
  entryIds: readonly string[],
): Promise<Map<string, EntryText>> {
  if (entryIds.length === 0) return new Map();
  const rows = await db.query(findEntryTextRows, [organizationId, entryIds]);
  return new Map(rows.map((row) => [row.entryId, row]));
}

const findEntryTextRows = statement<EntryText>(
  "find_audit_entry_texts",
  "organization",
  `SELECT organization_id AS "organizationId", entry_id AS "entryId", ${exactTime("recorded_at")} AS "recordedAt",
     actor::text AS actor, actor_id AS "actorId", action, outcome, target_type AS "targetType", target_id AS "targetId",
     request_id AS "requestId", address, details::text AS details
   FROM audit_entry
   WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])`,
  "each-time",
);

export interface NewSeal extends Omit<Seal, "entryCount"> {
  readonly organizationId: string;
  readonly entries: readonly SealedEntry[];
}

/**
 * Inserts a seal. Returns false, and writes nothing, when another node has already made the seal of this number. If another node is inserting the
 * seal of this number at that time, waits for that node.
 */
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
  const sealed = await transaction.query(insertSealedRows, [organizationId, sealNumber, entryIds, entryHashes]);
  requireAllWritten(sealed, entries.length, "sealed entries");
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

const insertSealedRows = statement<Written>(
  "insert_audit_sealed",
  "organization",
  `INSERT INTO audit_sealed (organization_id, seal_number, entry_id, entry_hash)
   SELECT organization.organization_id, $2::integer, covered.entry_id, covered.entry_hash
   FROM organization
   CROSS JOIN unnest($3::uuid[], $4::bytea[]) AS covered (entry_id, entry_hash)
   WHERE organization.organization_id = $1
   RETURNING 1 AS written`,
);

const deleteUnsealedRows = statement<never>(
  "delete_audit_unsealed",
  "organization",
  "DELETE FROM audit_unsealed WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])",
);
