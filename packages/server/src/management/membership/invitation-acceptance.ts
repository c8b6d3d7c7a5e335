import { hashToken, parseInvitationCode } from "../../auth/credentials/token-form.ts";
import { permissionsOfActor } from "../../auth/permissions/actor-permissions.ts";
import { lookUpRoles } from "../../auth/permissions/roles.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import {
  acceptInvitation as acceptInvitationRow,
  findInvitationByLink,
  type Invitation,
} from "../../store/access/invitations.ts";
import { findMember, insertMember } from "../../store/access/members.ts";
import { findOrganization, lockOrganization, type Organization } from "../../store/access/organizations.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { findUsers, type User } from "../../store/people/users.ts";
import type { Act, CallerAct, Clock, RevokingParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { transactOnce } from "../act/repetition.ts";

export type AcceptedInvitation = { readonly organizationId: string; readonly roles: string[] };

/**
 * Makes the actor, who is a user, a member by the invitation that the code stands for. Throws 404 when the invitation was never made, was revoked
 * or has expired, 403 when it is for another e-mail address, and 409 when it was accepted before, the user is a member already, or the maker of
 * the invitation may not grant its roles any more.
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
    return await joinByInvitation(transaction, parts.engine, act, invitation, user);
  });
  parts.authenticator.forgetMembership({ organizationId: accepted.organizationId, userId });
  return accepted;
}

/** Finds the invitation that a code stands for and holds its organization until the transaction ends. Throws like `acceptInvitation`. */
export async function openInvitation(transaction: Transaction, code: string, now: Timestamp): Promise<Invitation> {
  return (await readInvitation(transaction, code, now, lockOrganization)).invitation;
}

/** Finds the invitation that a code stands for, to show it. Throws like `acceptInvitation`. */
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
  // A wrong code gets no further, whether there is such an organization or not: the time that the answer takes would tell.
  if ((await findInvitationByLink(db, organizationId, linkHash)) === undefined) throw notFound("invitation");
  const organization = await organizationOf(db, organizationId);
  if (organization === undefined) throw notFound("invitation");
  const invitation = await findInvitationByLink(db, organizationId, linkHash);
  if (invitation === undefined) throw notFound("invitation");
  if (invitation.acceptedAt !== null) throw usedUp();
  if (invitation.expiresAt <= now) throw notFound("invitation");
  return { invitation, organization };
}

/** Makes the user a member by an open invitation, which is used up by it. */
export async function joinByInvitation(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  invitation: Invitation,
  { userId, email }: Pick<User, "userId" | "email">,
): Promise<AcceptedInvitation> {
  const now = clock.now();
  const { organizationId, invitationId } = invitation;
  const roles = [...invitation.roles];
  if (!isMeantFor(invitation, email)) throw meantForOthers();
  if ((await findMember(transaction, organizationId, userId)) !== undefined) throw alreadyMember();
  await requireStillGrantable(transaction, invitation, now);
  await insertMember(transaction, { organizationId, userId, roles, createdAt: now });
  await acceptInvitationRow(transaction, invitation, userId, now);
  const note = { organizationId, targetType: "invitation", targetId: invitationId, details: { roles } } as const;
  await recordAudit(transaction, clock, act, note);
  return { organizationId, roles };
}

function isMeantFor(invitation: Invitation, email: string): boolean {
  return invitation.email === null || invitation.email.toLowerCase() === email.toLowerCase();
}

/** Nobody grants what they lack. Roles are granted at the moment of the acceptance, so that is when the maker must hold them. */
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
    "This invitation is for another e-mail address than yours. Sign in as the person who was invited, or ask for an invitation of your own.",
  );
}

function alreadyMember(): ServiceError {
  return new ServiceError("ConflictError", "You are a member of this organization already.");
}

function grantLost(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "The person who made this invitation may not grant its roles any more. Ask for another one.",
  );
}
