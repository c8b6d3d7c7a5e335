import type { FastifyRequest } from "fastify";
import { type JsonObject, type JsonValue, jsonEquals } from "../../core/json/json.ts";
import type { UntimedAuditEntry } from "../../engine/command.ts";
import { newId } from "../../engine/identifier.ts";
import { type AuditOutcome, insertAuditEntries } from "../../store/audit/audit.ts";
import type { Transaction } from "../../store/home/database.ts";
import { addressOf } from "./client-address.ts";

/** What an operation can change; an entry says which one. */
export const auditTargetTypes = [
  "organization",
  "member",
  "invitation",
  "role",
  "apiToken",
  "workflow",
  "version",
  "tag",
  "job",
] as const;

export type AuditTargetType = (typeof auditTargetTypes)[number];

/** What the handler of a change adds to what the request says by itself. */
export interface AuditNote {
  readonly targetType: AuditTargetType;
  /** As the interface names it: an id, or a name where things are known by their name (a tag, a role). */
  readonly targetId: string;
  /**
   * What changed, where it is small: for something new its fields, for a change `changesOf(before, after)`. Never a secret (a token, a link,
   * a password, a hash of one), never a definition's or a payload's text.
   */
  readonly details?: JsonObject;
  /** Only where the path names no organization: CreateOrganization, AcceptInvitation. */
  readonly organizationId?: string;
  /** Only when the request does the work of another operation: a repetition revokes what a lost answer told of. */
  readonly action?: string;
}

/**
 * Writes the one row that an accepted change leaves. Call it once in each operation that changes something, as the last statement of the very
 * transaction that makes the change, so that there is never one without the other:
 *
 *     await database.transaction(async (transaction) => {
 *       await updateRole(transaction, changed);
 *       await recordAudit(transaction, request, { targetType: "role", targetId: name, details: changesOf(role, changed) });
 *     });
 *
 * With `transactOnce` call it inside of `work`: a replayed key then writes no second row. The action is the route's operationId, the actor
 * the caller. What is denied is recorded by the error handler: throw `ServiceError` AuthorizationError and do no more. An operation with a
 * writing method that records nothing says why in its route: `config: { unaudited: "It changes nothing." }`.
 */
export async function recordAudit(transaction: Transaction, request: FastifyRequest, note: AuditNote): Promise<void> {
  const { organizationId = (request.params as { organizationId?: string }).organizationId } = note;
  if (organizationId === undefined) throw new Error("An audit entry must name its organization.");
  const recordedAt = request.server.engine.now();
  const entryId = newId(recordedAt);
  await insertAuditEntries(transaction, [{ organizationId, entryId, recordedAt, ...auditOf(request, note) }]);
}

/** For a change that goes through the group commit: the entry goes with the command, and is written with what that changes. */
export function auditOf(
  request: FastifyRequest,
  note: Omit<AuditNote, "organizationId" | "targetId"> & { readonly targetId: string | null },
  outcome: AuditOutcome = "accepted",
): UntimedAuditEntry {
  const { type, id, name } = request.caller.principal;
  const { targetType, targetId, details = {}, action = actionOf(request) } = note;
  const where = { requestId: request.id, address: addressOf(request) };
  return { actor: { type, id, name }, action, outcome, targetType, targetId, ...where, details };
}

/** Of the fields of `after` those that differ: `{"name": {"from": "a", "to": "b"}}`. What is not there is null. */
export function changesOf<Fields extends object>(before: Fields, after: Partial<Fields>): JsonObject {
  const changes: JsonObject = {};
  for (const [name, to = null] of Object.entries(after) as [string, JsonValue | undefined][]) {
    const from = (before as Record<string, JsonValue | undefined>)[name] ?? null;
    if (!jsonEquals(from, to)) changes[name] = { from, to };
  }
  return changes;
}

function actionOf({ routeOptions: { config, schema } }: FastifyRequest): string {
  const action = config.aliasOf ?? schema?.operationId;
  if (action === undefined) throw new Error("The route has no operationId.");
  return action;
}
