import { actorOf } from "../../auth/caller.ts";
import { createInvitationCode } from "../../auth/credentials/token-form.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { toTime } from "../../core/time.ts";
import {
  findInvitation,
  type Invitation,
  insertInvitation,
  revokeInvitation as revokeInvitationRow,
} from "../../store/access/invitations.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { Act, CallerAct, Clock, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor, requireGrantableRoles } from "../act/grants.ts";
import { transactAnew } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";
import { endOfCaller, expiryWithin } from "../tokens/expiry.ts";

export interface InvitationRequest {
  readonly organizationId: string;
  readonly roles: readonly string[];
  /** Makes the pointer to a role in the request, for an error. By default it points into a list `roles`. */
  readonly pointerOf?: (index: number) => string;
  /** The only e-mail address whose user can accept the invitation. Null means that anybody who has the link can accept it. */
  readonly email: string | null;
  /** The time when the invitation ends. If left out, it ends after `defaultInvitationDays`, or with the caller's own token if that is earlier. */
  readonly expiresAt?: Timestamp;
}

export interface IssuedInvitation {
  readonly invitation: Invitation;
  /** The code at the end of the link. Shown once and stored nowhere. */
  readonly code: string;
}

export const defaultInvitationDays = 7;

/**
 * Invites a person. Throws 400 for an end that is too late or in the past, and for a name that belongs to no role. Throws 403 for a requested end
 * after the end of the caller's own token, and when the caller lacks something that the roles permit. Throws 409 when too many invitations are open
 * or the organization has too many members. A repetition revokes the invitation of the earlier attempt.
 */
export async function createInvitation(
  parts: ManagementParts,
  act: CallerAct,
  { organizationId, roles, pointerOf, email, expiresAt: askedFor }: InvitationRequest,
): Promise<IssuedInvitation> {
  const { engine, config } = parts;
  const createdAt = engine.now();
  requirePossibleEnd(askedFor, createdAt, config.maxInvitationDays);
  const { code, codeHash } = createInvitationCode(organizationId);
  const invitationId = engine.newId();
  const createdBy = actorOf(act.caller);
  return await transactAnew(parts, act, { organizationId }, async (transaction, earlier?: MadeInvitation) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const expiresAt = expiryWithin(
      askedFor,
      createdAt + defaultInvitationDays * dayMs,
      await endOfCaller(transaction, act.caller),
    );
    const made = { organizationId, invitationId, email, roles, createdBy, createdAt, expiresAt };
    const invitation: Invitation = { ...made, acceptedAt: null, acceptedBy: null };
    await endLostInvitation(transaction, engine, act, earlier?.invitationId, invitation);
    await requireGrantableRoles(transaction, organizationId, granted, roles, pointerOf);
    await requireRoom(transaction, parts, act, { organizationId }, "openInvitations");
    await requireRoom(transaction, parts, act, { organizationId }, "members");
    await insertInvitation(transaction, invitation, codeHash);
    const details = { roles: [...roles], email, expiresAt: toTime(expiresAt) };
    const note = { organizationId, targetType: "invitation", targetId: invitationId, details } as const;
    await recordAudit(transaction, engine, act, note);
    return { made: { invitationId }, answer: { invitation, code } };
  });
}

type MadeInvitation = { readonly invitationId: string };

/** Revokes an invitation for good. Throws 404 when there is no such invitation, and 409 when it was accepted. */
export async function revokeInvitation(
  { database, engine }: ManagementParts,
  act: CallerAct,
  { organizationId, invitationId }: { readonly organizationId: string; readonly invitationId: string },
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockGrantsFor(transaction, engine, act, organizationId);
    const invitation = await findInvitation(transaction, organizationId, invitationId);
    if (invitation === undefined) throw notFound("invitation");
    if (invitation.acceptedAt !== null) throw wasAccepted();
    await revokeInvitationRow(transaction, organizationId, invitationId, engine.now());
    const details = { roles: [...invitation.roles], email: invitation.email };
    const note = { organizationId, targetType: "invitation", targetId: invitationId, details } as const;
    await recordAudit(transaction, engine, act, note);
  });
}

/** Revokes the invitation of an attempt whose answer was lost, because nobody has its link. */
async function endLostInvitation(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  lostId: string | undefined,
  { organizationId, invitationId: replacedBy, createdAt }: Invitation,
): Promise<void> {
  const lost = lostId && (await findInvitation(transaction, organizationId, lostId));
  if (!lost || lost.acceptedAt !== null) return;
  const { invitationId: targetId, roles, email } = lost;
  await revokeInvitationRow(transaction, organizationId, targetId, createdAt);
  const details = { roles: [...roles], email, replacedBy };
  const note = { organizationId, targetType: "invitation", targetId, details } as const;
  await recordAudit(transaction, clock, { ...act, operation: "RevokeInvitation" }, note);
}

const dayMs = 24 * 60 * 60 * 1_000;

function requirePossibleEnd(askedFor: Timestamp | undefined, now: Timestamp, maxDays: number): void {
  const latest = now + maxDays * dayMs;
  if (askedFor === undefined || (askedFor > now && askedFor <= latest)) return;
  const detail = `must be in the future and at most ${maxDays} days from now: from ${toTime(now)} to ${toTime(latest)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}

function wasAccepted(): ServiceError {
  return new ServiceError("ConflictError", "This invitation was accepted already. Remove the member instead.");
}
