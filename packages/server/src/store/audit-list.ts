import type { Timestamp } from "../core/job-state.ts";
import type { AuditEntry, AuditOutcome } from "./audit.ts";
import { type Queryable, statement } from "./database.ts";
import { firstIdAt, lastIdAt } from "./job-lists.ts";

export interface AuditSearch {
  readonly organizationId: string;
  readonly action: string | null;
  readonly actorId: string | null;
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly outcome: AuditOutcome | null;
  /** From this instant on. */
  readonly after: Timestamp | null;
  /** Up to this instant, without it. */
  readonly before: Timestamp | null;
}

/** An entry with the seal that covers it; null while it waits for one. */
export interface ListedAuditEntry extends AuditEntry {
  readonly sealNumber: number | null;
}

/** Newest first, from before `beforeEntryId`. */
export async function listAuditEntries(
  db: Queryable,
  search: AuditSearch,
  beforeEntryId: string | null,
  limit: number,
): Promise<ListedAuditEntry[]> {
  return await db.query(listNewestAuditEntryRows, [...searchValues(search), beforeEntryId, limit]);
}

/** Oldest first, from after `afterEntryId`. */
export async function listAuditEntriesInOrder(
  db: Queryable,
  search: AuditSearch,
  afterEntryId: string | null,
  limit: number,
): Promise<ListedAuditEntry[]> {
  return await db.query(listOldestAuditEntryRows, [...searchValues(search), afterEntryId, limit]);
}

/** An entry's id begins with its time, so the order of ids is that of times, and a range of times one of the primary key. */
const listed = `
   SELECT audit_entry.organization_id AS "organizationId", audit_entry.entry_id AS "entryId",
     audit_entry.recorded_at AS "recordedAt", audit_entry.actor, audit_entry.action, audit_entry.outcome,
     audit_entry.target_type AS "targetType", audit_entry.target_id AS "targetId", audit_entry.request_id AS "requestId",
     audit_entry.address, audit_entry.details, audit_sealed.seal_number AS "sealNumber"
   FROM audit_entry
   LEFT JOIN audit_sealed ON audit_sealed.organization_id = audit_entry.organization_id
     AND audit_sealed.entry_id = audit_entry.entry_id
   WHERE audit_entry.organization_id = $1
     AND ($2::text IS NULL OR audit_entry.action = $2)
     AND ($3::uuid IS NULL OR audit_entry.actor_id = $3)
     AND ($4::text IS NULL OR audit_entry.target_type = $4)
     AND ($5::text IS NULL OR audit_entry.target_id = $5)
     AND ($6::text IS NULL OR audit_entry.outcome = $6)
     AND ($7::timestamptz IS NULL OR (audit_entry.recorded_at >= $7 AND audit_entry.entry_id >= $8::uuid))
     AND ($9::timestamptz IS NULL OR (audit_entry.recorded_at < $9 AND audit_entry.entry_id <= $10::uuid))`;

const listNewestAuditEntryRows = statement<ListedAuditEntry>(
  "list_newest_audit_entries",
  "organization",
  `${listed}
     AND ($11::uuid IS NULL OR audit_entry.entry_id < $11)
   ORDER BY audit_entry.entry_id DESC
   LIMIT $12`,
  "each-time",
);

const listOldestAuditEntryRows = statement<ListedAuditEntry>(
  "list_oldest_audit_entries",
  "organization",
  `${listed}
     AND ($11::uuid IS NULL OR audit_entry.entry_id > $11)
   ORDER BY audit_entry.entry_id
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
