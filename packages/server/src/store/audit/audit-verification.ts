import type { SealedEntry } from "../../core/audit-chain.ts";
import { type Queryable, statement } from "../home/database.ts";
import { type Seal, sealColumns } from "./audit-seals.ts";

export async function listSeals(
  db: Queryable,
  organizationId: string,
  afterNumber: number,
  limit: number,
): Promise<Seal[]> {
  return await db.query(listSealRows, [organizationId, afterNumber, limit]);
}

const listSealRows = statement<Seal>(
  "list_audit_seals",
  "organization",
  `SELECT ${sealColumns}
   FROM audit_seal
   WHERE organization_id = $1 AND seal_number > $2
   ORDER BY seal_number
   LIMIT $3`,
);

export interface CoveredEntry extends SealedEntry {
  readonly sealNumber: number;
}

/** Lists the entries that these seals cover, seal by seal and in the order of ids, at most `limit` entries. */
export async function listCoveredEntries(
  db: Queryable,
  organizationId: string,
  sealNumbers: { readonly from: number; readonly to: number },
  limit: number,
): Promise<CoveredEntry[]> {
  return await db.query(listCoveredRows, [organizationId, sealNumbers.from, sealNumbers.to, limit]);
}

const listCoveredRows = statement<CoveredEntry>(
  "list_covered_audit_entries",
  "organization",
  `SELECT seal_number AS "sealNumber", entry_id AS "entryId", encode(entry_hash, 'hex') AS "entryHash"
   FROM audit_sealed
   WHERE organization_id = $1 AND seal_number BETWEEN $2 AND $3
   ORDER BY seal_number, entry_id
   LIMIT $4`,
  "each-time",
);

/** Lists the ids of the organization's entries in their order, whether a seal covers them or not. */
export async function listEntryIds(
  db: Queryable,
  organizationId: string,
  afterEntryId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(listEntryIdRows, [organizationId, afterEntryId, limit]);
  return rows.map((row) => row.entryId);
}

const listEntryIdRows = statement<{ entryId: string }>(
  "list_audit_entry_ids",
  "organization",
  `SELECT entry_id AS "entryId"
   FROM audit_entry
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR entry_id > $2)
   ORDER BY entry_id
   LIMIT $3`,
  "each-time",
);

/**
 * Says which seal covers an entry. `sealNumber` is null for an entry that waits for a seal. If the tables were tampered with, there may be two
 * standings of one entry, or none.
 */
export interface EntryStanding {
  readonly entryId: string;
  readonly sealNumber: number | null;
}

/**
 * Reads the tables of the waiting and of the covered entries in one statement, because an entry could move from one table to the other between two
 * statements.
 */
export async function findEntryStandings(
  db: Queryable,
  organizationId: string,
  entryIds: readonly string[],
): Promise<EntryStanding[]> {
  if (entryIds.length === 0) return [];
  return await db.query(findEntryStandingRows, [organizationId, entryIds]);
}

const findEntryStandingRows = statement<EntryStanding>(
  "find_audit_entry_standings",
  "organization",
  `SELECT entry_id AS "entryId", NULL AS "sealNumber"
   FROM audit_unsealed
   WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])
   UNION ALL
   SELECT entry_id AS "entryId", seal_number AS "sealNumber"
   FROM audit_sealed
   WHERE organization_id = $1 AND entry_id = ANY($2::uuid[])`,
  "each-time",
);

/** Finds out which of these seals exist, and returns their numbers. */
export async function findSeals(
  db: Queryable,
  organizationId: string,
  sealNumbers: readonly number[],
): Promise<Set<number>> {
  if (sealNumbers.length === 0) return new Set();
  const rows = await db.query(findSealRows, [organizationId, sealNumbers]);
  return new Set(rows.map((row) => row.sealNumber));
}

const findSealRows = statement<{ sealNumber: number }>(
  "find_audit_seals",
  "organization",
  `SELECT seal_number AS "sealNumber"
   FROM audit_seal
   WHERE organization_id = $1 AND seal_number = ANY($2::integer[])`,
  "each-time",
);

/** Lists the ids of all organizations, including deleted ones, in their order. */
export async function listAllOrganizationIds(
  db: Queryable,
  afterOrganizationId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(listAllOrganizationIdRows, [afterOrganizationId, limit]);
  return rows.map((row) => row.organizationId);
}

const listAllOrganizationIdRows = statement<{ organizationId: string }>(
  "list_all_organization_ids",
  "maintenance",
  `SELECT organization_id AS "organizationId"
   FROM organization
   WHERE $1::uuid IS NULL OR organization_id > $1
   ORDER BY organization_id
   LIMIT $2`,
  "once",
  { order: ["organizationId"], whole: true },
);
