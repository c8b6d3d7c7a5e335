import type { Actor } from "../../core/actor.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Timestamp } from "../../core/time.ts";
import { statement, type Transaction } from "../home/database.ts";
import { organizationsOf } from "../home/key-parts.ts";
import { requireAllWritten, type Written } from "../home/written.ts";

export type AuditOutcome = "accepted" | "denied";

/** One entry of the audit trail: an operation that an actor carried out, or was denied. */
export interface AuditEntry {
  readonly organizationId: string;
  /** A UUID version 7 made at `recordedAt`, so that the order of ids is the order of times. */
  readonly entryId: string;
  readonly recordedAt: Timestamp;
  readonly actor: Actor & { readonly name?: string };
  /** The operation's name in the OpenAPI document, or a similar name for an act that is not in that document. */
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly requestId: string;
  /** The network address from which the request came; "" for the command line and for the service itself. */
  readonly address: string;
  /** More about the operation, such as the changed fields; never a secret, never a payload. */
  readonly details: JsonObject;
}

/** Writes entries and marks them as not yet covered by a seal. An entry about a change is written in the transaction of the change. */
export async function insertAuditEntries(transaction: Transaction, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => ({
    organization_id: entry.organizationId,
    entry_id: entry.entryId,
    recorded_at: new Date(entry.recordedAt).toISOString(),
    actor: entry.actor,
    actor_id: entry.actor.type === "service" ? null : entry.actor.id,
    action: entry.action,
    outcome: entry.outcome,
    target_type: entry.targetType,
    target_id: entry.targetId,
    request_id: entry.requestId,
    address: entry.address,
    details: entry.details,
  }));
  const organizationIds = entries.map((entry) => entry.organizationId);
  const entryIds = entries.map((entry) => entry.entryId);
  const [written, unsealed] = await Promise.all([
    transaction.query(insertAuditEntryRows, [JSON.stringify(rows), organizationsOf(entries)]),
    transaction.query(insertUnsealedRows, [organizationIds, entryIds]),
  ]);
  requireAllWritten(written, entries.length, "audit entries");
  requireAllWritten(unsealed, entries.length, "audit entries without a seal");
}

const insertAuditEntryRows = statement<Written>(
  "insert_audit_entries",
  "organization",
  `INSERT INTO audit_entry (organization_id, entry_id, recorded_at, actor, actor_id, action, outcome, target_type, target_id,
     request_id, address, details)
   SELECT organization.organization_id, entry_id, recorded_at, actor, actor_id, action, outcome, target_type, target_id, request_id,
     address, details
   FROM json_to_recordset($1) AS new (organization_id uuid, entry_id uuid, recorded_at timestamptz, actor json, actor_id uuid,
     action text, outcome text, target_type text, target_id text, request_id text, address text, details json)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   RETURNING 1 AS written`,
);

const insertUnsealedRows = statement<Written>(
  "insert_audit_unsealed",
  "organization",
  `INSERT INTO audit_unsealed (organization_id, entry_id)
   SELECT organization.organization_id, new.entry_id
   FROM unnest($1::uuid[], $2::uuid[]) AS new (organization_id, entry_id)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($1::uuid[])
   RETURNING 1 AS written`,
);
