import { hashToken, parseInvitationCode } from "../../auth/credentials/token-form.ts";
import { permissionsOfActor } from "../../auth/permissions/actor-permissions.ts";
import { lookUpRoles } from "../../auth/permissions/roles.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import {
  acceptInvitation as acceptInvitationRow,
  findInvitationByLink,
  type Invitation,
} from "../../store/access/invitations.ts";
import { countMembers, findMember, insertMember } from "../../store/access/members.ts";
import { findOrganization, lockOrganization, type Organization } from "../../store/access/organizations.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { findUsers, type User } from "../../store/people/users.ts";
import type { Act, CallerAct, ManagementParts, RevokingParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";

export type AcceptedInvitation = { readonly organizationId: string; readonly roles: string[] };

/**
 * Accepts the invitation of the code: the actor, who is a user, becomes a member. Throws 404 for an unknown, revoked or expired invitation, and 403
 * for an invitation of another e-mail address. Throws 409 if the invitation was accepted before, if its maker may no longer grant its roles, if the
 * user is a member already, or if the organization has no room for another member.
 */
export async function acceptInvitation(
  parts: RevokingParts,
  act: Act & Partial<Pick<CallerAct, "repetition">>,
  code: string,
): Promise<AcceptedInvitation> {
  const userId = act.actor.id;
  const accepted = await transactOnce(parts, { repetition: act.repetition }, { userId }, async (transaction, now) => {
    const invitation = await openInvitation(transaction, code, now);
    const [user] = await findUsers(transaction, [userId]);
    if (user === undefined) throw notFound("invitation");
    return await joinByInvitation(transaction, parts, act, invitation, user);
  });
  parts.authenticator.forgetMembership({ organizationId: accepted.organizationId, userId });
  return accepted;
}

/**
 * Finds the invitation of a code and locks its organization until the transaction ends. Throws 404 for an unknown, revoked or expired invitation, and
 * 409 for one that was accepted before.
 */
export async function openInvitation(transaction: Transaction, code: string, now: Timestamp): Promise<Invitation> {
  return (await readInvitation(transaction, code, now, lockOrganization)).invitation;
}

/** Finds the invitation of a code, to show it. Throws like `openInvitation`. */
export async function showInvitation(db: Queryable, code: string, now: Timestamp): Promise<ShownInvitation> {
  return await readInvitation(db, code, now, findOrganization);
}

export interface ShownInvitation {
  readonly invitation: Invitation;
  readonly organization: Organization;
}

async function readInvitation(
  db: Queryable,
  code: string,
  now: Timestamp,
  organizationOf: (db: Queryable, organizationId: string) => Promise<Organization | undefined>,
): Promise<ShownInvitation> {
  const organizationId = parseInvitationCode(code);
  if (organizationId === undefined) throw notFound("invitation");
  const linkHash = hashToken(code);
  // A wrong code is rejected before its organization is looked up. Otherwise the time of the answer would show whether that organization exists.
  if ((await findInvitationByLink(db, organizationId, linkHash)) === undefined) throw notFound("invitation");
  const organization = await organizationOf(db, organizationId);
  if (organization === undefined) throw notFound("invitation");
  const invitation = await findInvitationByLink(db, organizationId, linkHash);
  if (invitation === undefined) throw notFound("invitation");
  if (invitation.acceptedAt !== null) throw usedUp();
  if (invitation.expiresAt <= now) throw notFound("invitation");
  return { invitation, organization };
}

/** Makes the user a member by an open invitation, and uses the invitation up. */
export async function joinByInvitation(
  transaction: Transaction,
  parts: Pick<ManagementParts, "config" | "engine">,
  act: Act,
  invitation: Invitation,
  { userId, email }: Pick<User, "userId" | "email">,
): Promise<AcceptedInvitation> {
  const now = parts.engine.now();
  const { organizationId, invitationId } = invitation;
  const roles = [...invitation.roles];
  if (!isMeantFor(invitation, email)) throw meantForOthers();
  if ((await findMember(transaction, organizationId, userId)) !== undefined) throw alreadyMember();
  await requireStillGrantable(transaction, invitation, now);
  // The open invitation has reserved a place. But if the operator has lowered the maximum in the meantime, there may be fewer places than open
  // invitations, and those who accept first get them.
  await requireRoom(transaction, parts, act, { organizationId }, "members", () =>
    countMembers(transaction, organizationId),
  );
  await insertMember(transaction, { organizationId, userId, roles, createdAt: now });
  await acceptInvitationRow(transaction, invitation, userId, now);
  const note = { organizationId, targetType: "invitation", targetId: invitationId, details: { roles } } as const;
  await recordAudit(transaction, parts.engine, act, note);
  return { organizationId, roles };
}

function isMeantFor(invitation: Invitation, email: string): boolean {
  return invitation.email === null || invitation.email.toLowerCase() === email.toLowerCase();
}

/**
 * Throws 409 unless the invitation's maker still holds everything that its roles permit. The roles are granted at the moment of the acceptance, and
 * nobody can grant permissions that they lack.
 */
async function requireStillGrantable(
  transaction: Transaction,
  { organizationId, roles, createdBy }: Invitation,
  now: Timestamp,
): Promise<void> {
  const { permissions, unknownNames } = await lookUpRoles(transaction, organizationId, roles);
  const held = await permissionsOfActor(transaction, organizationId, createdBy, now);
  if (held === undefined || unknownNames.length > 0 || !permissions.isSubsetOf(held)) throw grantLost();
}

function usedUp(): ServiceError {
  return new ServiceError("ConflictError", "This invitation was accepted already. Ask for a new one.");
}

function meantForOthers(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    "This invitation is not for your e-mail address. Sign in as the person who was invited, or ask for an invitation of your own.",
  );
}

function alreadyMember(): ServiceError {
  return new ServiceError("ConflictError", "You are a member of this organization already.");
}

function grantLost(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "Whoever made this invitation may not grant its roles any more. Ask for a new one.",
  );
}
