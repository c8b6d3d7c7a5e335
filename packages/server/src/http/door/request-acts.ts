import type { FastifyRequest } from "fastify";
import type { PermissionSet } from "../../auth/permissions/permissions.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ManagementParts } from "../../management/act/act.ts";
import * as audit from "../../management/act/audit-trail.ts";
import * as grants from "../../management/act/grants.ts";
import type { KeyScope } from "../../management/act/key-ledger.ts";
import * as repetition from "../../management/act/repetition.ts";
import type { Transaction } from "../../store/home/database.ts";
import { actOf, callerActOf } from "./act.ts";

/*
 * The functions of `management/act` for routes that still make their changes themselves, by their request.
 */

export interface AuditNote extends audit.AuditNote {
  readonly organizationId?: string;
  readonly action?: string;
}

export async function recordAudit(transaction: Transaction, request: FastifyRequest, note: AuditNote): Promise<void> {
  const { organizationId = (request.params as { organizationId?: string }).organizationId, action, ...rest } = note;
  if (organizationId === undefined) throw new Error("An audit entry must name its organization.");
  const act = actOf(request);
  const done = action === undefined ? act : { ...act, operation: action };
  await audit.recordAudit(transaction, request.server.engine, done, { ...rest, organizationId });
}

export async function lockGrantsFor(transaction: Transaction, request: FastifyRequest): Promise<PermissionSet> {
  const { organizationId = "" } = request.params as { organizationId?: string };
  return await grants.lockGrantsFor(transaction, request.server.engine, callerActOf(request), organizationId);
}

export async function transactOnce<Answer extends object, Proof = undefined>(
  parts: ManagementParts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, now: Timestamp, proof: Proof) => Promise<Answer>,
  confirm?: () => Promise<Proof>,
): Promise<Answer> {
  return await repetition.transactOnce(parts, callerActOf(request), scope, work, confirm);
}

export async function transactAnew<Made extends JsonObject, Answer>(
  parts: ManagementParts,
  request: FastifyRequest,
  scope: KeyScope,
  work: (transaction: Transaction, earlier: Made | undefined) => Promise<repetition.Renewable<Made, Answer>>,
  confirm?: () => Promise<unknown>,
): Promise<Answer> {
  return await repetition.transactAnew(parts, callerActOf(request), scope, work, confirm);
}
