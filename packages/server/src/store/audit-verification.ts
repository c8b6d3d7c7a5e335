import type { EntryText } from "../core/audit-chain.ts";
import { entryTextColumns, type Seal, sealColumns } from "./audit-seals.ts";
import { type Queryable, statement } from "./database.ts";

/** In their order, from after `afterNumber`. */
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

/** An entry that a seal covers; without `entry` where the row is gone. */
export interface CoveredEntry {
  readonly sealNumber: number;
  readonly entryId: string;
  readonly entryHash: string;
  readonly entry: EntryText | undefined;
}

/** What these seals cover, seal by seal and in the order of ids, at most `limit` entries. */
export async function listCoveredEntries(
  db: Queryable,
  organizationId: string,
  sealNumbers: { readonly from: number; readonly to: number },
  limit: number,
): Promise<CoveredEntry[]> {
  const rows = await db.query(listCoveredRows, [organizationId, sealNumbers.from, sealNumbers.to, limit]);
  return rows.map(({ sealNumber, coveredId, entryHash, ...entry }) => ({
    sealNumber,
    entryId: coveredId,
    entryHash,
    entry: entry.entryId === null ? undefined : { ...entry, entryId: entry.entryId },
  }));
}

type CoveredRow = Omit<CoveredEntry, "entry" | "entryId"> &
  Omit<EntryText, "entryId"> & { readonly coveredId: string; readonly entryId: string | null };

const listCoveredRows = statement<CoveredRow>(
  "list_covered_audit_entries",
  "organization",
  `SELECT audit_sealed.seal_number AS "sealNumber", audit_sealed.entry_id AS "coveredId",
     encode(audit_sealed.entry_hash, 'hex') AS "entryHash", ${entryTextColumns}
   FROM audit_sealed
   LEFT JOIN audit_entry ON audit_entry.organization_id = audit_sealed.organization_id
     AND audit_entry.entry_id = audit_sealed.entry_id
   WHERE audit_sealed.organization_id = $1 AND audit_sealed.seal_number BETWEEN $2 AND $3
   ORDER BY audit_sealed.seal_number, audit_sealed.entry_id
   LIMIT $4`,
  "each-time",
);

/** Where an entry's row stands: it waits for a seal, or says which one covers it, or neither. Read at one instant. */
export interface EntryStanding {
  readonly entryId: string;
  readonly isUnsealed: boolean;
  /** What `audit_sealed` says. */
  readonly sealNumber: number | null;
  readonly isSealThere: boolean;
}

/** Of all entries, in the order of their ids. */
export async function listEntryStandings(
  db: Queryable,
  organizationId: string,
  afterEntryId: string | null,
  limit: number,
): Promise<EntryStanding[]> {
  return await db.query(listEntryStandingRows, [organizationId, afterEntryId, limit]);
}

const listEntryStandingRows = statement<EntryStanding>(
  "list_audit_entry_standings",
  "organization",
  `SELECT audit_entry.entry_id AS "entryId", audit_unsealed.entry_id IS NOT NULL AS "isUnsealed",
     audit_sealed.seal_number AS "sealNumber", audit_seal.seal_number IS NOT NULL AS "isSealThere"
   FROM audit_entry
   LEFT JOIN audit_unsealed ON audit_unsealed.organization_id = audit_entry.organization_id
     AND audit_unsealed.entry_id = audit_entry.entry_id
   LEFT JOIN audit_sealed ON audit_sealed.organization_id = audit_entry.organization_id
     AND audit_sealed.entry_id = audit_entry.entry_id
   LEFT JOIN audit_seal ON audit_seal.organization_id = audit_sealed.organization_id
     AND audit_seal.seal_number = audit_sealed.seal_number
   WHERE audit_entry.organization_id = $1 AND ($2::uuid IS NULL OR audit_entry.entry_id > $2)
   ORDER BY audit_entry.entry_id
   LIMIT $3`,
  "each-time",
);

/** Of the list of what waits for a seal: those whose entry is gone. */
export async function findLostUnsealed(db: Queryable, organizationId: string, limit: number): Promise<string[]> {
  const rows = await db.query(findLostUnsealedRows, [organizationId, limit]);
  return rows.map((row) => row.entryId);
}

const findLostUnsealedRows = statement<{ entryId: string }>(
  "find_lost_unsealed_audit_entries",
  "organization",
  `SELECT audit_unsealed.entry_id AS "entryId"
   FROM audit_unsealed
   LEFT JOIN audit_entry ON audit_entry.organization_id = audit_unsealed.organization_id
     AND audit_entry.entry_id = audit_unsealed.entry_id
   WHERE audit_unsealed.organization_id = $1 AND audit_entry.entry_id IS NULL
   ORDER BY audit_unsealed.entry_id
   LIMIT $2`,
  "each-time",
);

/** All organizations, also deleted ones, in the order of their ids. */
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
);
