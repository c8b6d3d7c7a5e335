import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import { firstIdAt, lastIdAt } from "../jobs/job-lists.ts";
import type { AuditEntry, AuditOutcome } from "./audit.ts";
import { findSealNumbers } from "./audit-seals.ts";

export interface AuditSearch {
  readonly organizationId: string;
  readonly action: string | null;
  readonly actorId: string | null;
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly outcome: AuditOutcome | null;
  /** Entries of exactly this time are included. */
  readonly after: Timestamp | null;
  /** Entries of exactly this time are not included. */
  readonly before: Timestamp | null;
}

/** An entry with the number of the seal that covers it; null while the entry waits for a seal. */
export interface ListedAuditEntry extends AuditEntry {
  readonly sealNumber: number | null;
}

/** Lists the entries before `beforeEntryId`, the newest first. */
export async function listAuditEntries(
  db: Queryable,
  search: AuditSearch,
  beforeEntryId: string | null,
  limit: number,
): Promise<ListedAuditEntry[]> {
  return await withSeals(db, search, await db.query(listNewestRows, [...searchValues(search), beforeEntryId, limit]));
}

/** Lists the entries after `afterEntryId`, the oldest first. */
export async function listAuditEntriesInOrder(
  db: Queryable,
  search: AuditSearch,
  afterEntryId: string | null,
  limit: number,
): Promise<ListedAuditEntry[]> {
  return await withSeals(db, search, await db.query(listOldestRows, [...searchValues(search), afterEntryId, limit]));
}

async function withSeals(
  db: Queryable,
  { organizationId }: AuditSearch,
  entries: readonly AuditEntry[],
): Promise<ListedAuditEntry[]> {
  const entryIds = entries.map((entry) => entry.entryId);
  const sealNumbers = await findSealNumbers(db, organizationId, entryIds);
  return entries.map((entry) => ({ ...entry, sealNumber: sealNumbers.get(entry.entryId) ?? null }));
}

/** An entry's id begins with its time. So the order of ids is the order of times, and a range of times is a range of the primary key. */
const listed = `
   SELECT organization_id AS "organizationId", entry_id AS "entryId", recorded_at AS "recordedAt", actor, action, outcome,
     target_type AS "targetType", target_id AS "targetId", request_id AS "requestId", address, details
   FROM audit_entry
   WHERE organization_id = $1
     AND ($2::text IS NULL OR action = $2)
     AND ($3::uuid IS NULL OR actor_id = $3)
     AND ($4::text IS NULL OR target_type = $4)
     AND ($5::text IS NULL OR target_id = $5)
     AND ($6::text IS NULL OR outcome = $6)
     AND ($7::timestamptz IS NULL OR (recorded_at >= $7 AND entry_id >= $8::uuid))
     AND ($9::timestamptz IS NULL OR (recorded_at < $9 AND entry_id <= $10::uuid))`;

const listNewestRows = statement<AuditEntry>(
  "list_newest_audit_entries",
  "organization",
  `${listed}
     AND ($11::uuid IS NULL OR entry_id < $11)
   ORDER BY entry_id DESC
   LIMIT $12`,
  "each-time",
);

const listOldestRows = statement<AuditEntry>(
  "list_oldest_audit_entries",
  "organization",
  `${listed}
     AND ($11::uuid IS NULL OR entry_id > $11)
   ORDER BY entry_id
   LIMIT $12`,
  "each-time",
);

function searchValues(search: AuditSearch): unknown[] {
  const { after, before } = search;
  return [
    search.organizationId,
    search.action,
    search.actorId,
    search.targetType,
    search.targetId,
    search.outcome,
    after === null ? null : new Date(after).toISOString(),
    after === null ? null : firstIdAt(after),
    before === null ? null : new Date(before).toISOString(),
    before === null ? null : lastIdAt(before),
  ];
}
