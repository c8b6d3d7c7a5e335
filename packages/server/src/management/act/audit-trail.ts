import { type JsonObject, type JsonValue, jsonEquals } from "../../core/json/json.ts";
import type { UntimedAuditEntry } from "../../engine/commit/command.ts";
import { newId } from "../../engine/identifier.ts";
import { type AuditOutcome, insertAuditEntries } from "../../store/audit/audit.ts";
import type { Database, Transaction } from "../../store/home/database.ts";
import type { Act, Clock } from "./act.ts";

export const auditTargetTypes = [
  "organization",
  "member",
  "invitation",
  "role",
  "apiToken",
  "oauthClient",
  "workflow",
  "version",
  "tag",
  "taskQueue",
  "job",
] as const;

export type AuditTargetType = (typeof auditTargetTypes)[number];

/** The part of an entry that its act does not contain. */
export interface AuditNote {
  readonly targetType: AuditTargetType;
  /** The target's name in the API: an id, or a name if things of its type are identified by their names (a tag, a role, a task queue). */
  readonly targetId: string;
  /**
   * The change, if it is small: the fields of something new, or `changesOf(before, after)`. It never holds a secret (a token, a link, a password, a
   * hash of one), or the text of a definition or a payload.
   */
  readonly details?: JsonObject;
}

/**
 * Writes the one row that an accepted change leaves. Call it once in each change, in the same transaction, so that the row and the change
 * exist only together. A repetition within `transactOnce` writes no second row. A change need not record a denial: it throws `ServiceError`
 * AuthorizationError, and `http` records it with `recordDenial`.
 */
export async function recordAudit(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  note: AuditNote & { readonly organizationId: string },
): Promise<void> {
  await recordAudits(transaction, clock, act, [note]);
}

/** Writes one row for each thing that a change ends or alters, as `recordAudit` does for one thing. */
export async function recordAudits(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  notes: readonly (AuditNote & { readonly organizationId: string })[],
): Promise<void> {
  const recordedAt = clock.now();
  const entries = notes.map(({ organizationId, ...note }) => {
    return { organizationId, entryId: newId(recordedAt), recordedAt, ...auditOf(act, note) };
  });
  await insertAuditEntries(transaction, entries);
}

/** Records that an act was denied, and why. `targetId` is null if the request gives no valid name or id of the target. */
export async function recordDenial(
  database: Database,
  clock: Clock,
  act: Act,
  { organizationId, ...note }: DeniedNote & { readonly organizationId: string },
): Promise<void> {
  const recordedAt = clock.now();
  const denied = { organizationId, entryId: newId(recordedAt), recordedAt, ...auditOf(act, note, "denied") };
  await database.transaction((transaction) => insertAuditEntries(transaction, [denied]));
}

type DeniedNote = Omit<AuditNote, "targetId"> & { readonly targetId: string | null };

/**
 * Makes an entry without its id and its time. A change that goes through the group commit puts the entry into its command, so that the entry is
 * written in the same transaction as the change.
 */
export function auditOf(
  { actor, operation: action, clientId, requestId, address }: Act,
  { targetType, targetId, details: noted = {} }: DeniedNote,
  outcome: AuditOutcome = "accepted",
): UntimedAuditEntry {
  const details = clientId === undefined ? noted : { ...noted, clientId };
  const { type, id, name } = actor;
  const who = name === undefined ? { type, id } : { type, id, name };
  return { actor: who, action, outcome, targetType, targetId, requestId, address, details };
}

/** Returns the fields of `after` that differ: `{"name": {"from": "a", "to": "b"}}`. A missing field is null. */
export function changesOf<Fields extends object>(before: Fields, after: Partial<Fields>): JsonObject {
  const changes: JsonObject = {};
  for (const [name, to = null] of Object.entries(after) as [string, JsonValue | undefined][]) {
    const from = (before as Record<string, JsonValue | undefined>)[name] ?? null;
    if (!jsonEquals(from, to)) changes[name] = { from, to };
  }
  return changes;
}
