import type { Timestamp } from "../../core/job/job-state.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { acceptInvitation, findInvitationByLink, type Invitation } from "../../store/access/invitations.ts";
import { findMember, insertMember } from "../../store/access/members.ts";
import { findOrganization, lockOrganization, type Organization } from "../../store/access/organizations.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { permissionsOfActor } from "../permissions/actor-permissions.ts";
import { lookUpRoles } from "../permissions/roles.ts";
import { hashToken, parseInvitationCode } from "./token-form.ts";

/**
 * The invitation that a code stands for, for this transaction alone. Throws 404 when it cannot be accepted (the same whether it was
 * never made, was revoked or has expired), and 409 when it was accepted before.
 */
export async function openInvitation(transaction: Transaction, code: string, now: Timestamp): Promise<Invitation> {
  return (await readInvitation(transaction, code, now, lockOrganization)).invitation;
}

/** The same for who only looks at it. */
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
  const organization = await organizationOf(db, organizationId);
  if (organization === undefined) throw notFound("invitation");
  const invitation = await findInvitationByLink(db, organizationId, hashToken(code));
  if (invitation === undefined) throw notFound("invitation");
  if (invitation.acceptedAt !== null) throw usedUp();
  if (invitation.expiresAt <= now) throw notFound("invitation");
  return { invitation, organization };
}

export interface Invitee {
  readonly userId: string;
  readonly email: string;
}

/** Makes the user a member by an open invitation, which is used up by it. */
export async function joinByInvitation(
  transaction: Transaction,
  invitation: Invitation,
  { userId, email }: Invitee,
  now: Timestamp,
): Promise<void> {
  const { organizationId, roles } = invitation;
  if (!isMeantFor(invitation, email)) throw meantForOthers();
  if ((await findMember(transaction, organizationId, userId)) !== undefined) throw alreadyMember();
  await requireStillGrantable(transaction, invitation, now);
  await insertMember(transaction, { organizationId, userId, roles, createdAt: now });
  await acceptInvitation(transaction, invitation, userId, now);
}

function isMeantFor(invitation: Invitation, email: string): boolean {
  return invitation.email === null || invitation.email.toLowerCase() === email.toLowerCase();
}

/** Nobody grants what they lack, at the moment at which it is granted: that of the acceptance. */
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
  return new ServiceError("ConflictError", "This invitation was accepted already. Ask for another one.");
}

function meantForOthers(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    "This invitation is for another e-mail address than yours. Sign in as who was invited, or ask for one of your own.",
  );
}

function alreadyMember(): ServiceError {
  return new ServiceError("ConflictError", "You are a member of this organization already.");
}

function grantLost(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "Who made this invitation may not grant its roles any more. Ask for another one.",
  );
}
