import type { JsonObject } from "../../core/json/json.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { deleteMember, findMember, type Member, updateMemberRoles } from "../../store/access/members.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { Act, CallerAct, Clock, RevokingParts } from "../act/act.ts";
import { changesOf, recordAudit } from "../act/audit-trail.ts";
import { lockGrants, lockGrantsFor, requireGrantableRoles, requireRolesHeld } from "../act/grants.ts";
import { etagOf, requireUnchanged } from "../act/precondition.ts";
import { requireOtherOwner } from "../membership/last-owner.ts";
import { forgetSecrets } from "../tokens/api-tokens.ts";
import { revokeTokensOfMember } from "../tokens/tokens-of-member.ts";

export interface MemberKey {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Replaces the roles of a member. Throws 403 unless the caller holds everything that the member may do, before and after the change. Throws 412 when
 * the member does not have the roles that the caller read, and 409 when the last owner would lose the role `owner`.
 */
export async function updateMember(
  { database, engine, authenticator }: RevokingParts,
  act: CallerAct,
  { organizationId, userId }: MemberKey,
  roles: readonly string[],
): Promise<Member> {
  const changed = await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const member = await findMember(transaction, organizationId, userId);
    if (member === undefined) throw notFound("member");
    await requireGrantableRoles(transaction, organizationId, granted, roles);
    await requireRolesHeld(transaction, organizationId, granted, member.roles);
    requireUnchanged(act, "member", etagOfMember(member));
    if (!roles.includes("owner")) await requireOtherOwner(transaction, member);
    const changed = { ...member, roles };
    await updateMemberRoles(transaction, changed);
    const details = changesOf({ roles: [...member.roles] }, { roles: [...roles] });
    const note = { organizationId, targetType: "member", targetId: userId, details } as const;
    await recordAudit(transaction, engine, act, note);
    return changed;
  });
  authenticator.forgetMembership({ organizationId, userId });
  return changed;
}

export interface MemberRemoval extends MemberKey {
  readonly revokesApiTokens?: boolean | undefined;
}

/**
 * Removes a member, and on request also revokes the API tokens that the member made, directly or through other tokens. Throws 403 unless the caller
 * holds everything that the member and those tokens may do, 412 when the member does not have the roles that the caller read, and 409 for the last
 * owner.
 */
export async function removeMember(
  parts: RevokingParts,
  act: CallerAct,
  { organizationId, userId, revokesApiTokens = false }: MemberRemoval,
): Promise<void> {
  const { database, engine, authenticator } = parts;
  const revoked = await database.transaction(async (transaction) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId);
    const member = await findMember(transaction, organizationId, userId);
    if (member === undefined) throw notFound("member");
    await requireRolesHeld(transaction, organizationId, granted, member.roles);
    requireUnchanged(act, "member", etagOfMember(member));
    const revoked = revokesApiTokens
      ? await revokeTokensOfMember(transaction, engine, act, member, granted)
      : undefined;
    await endMembership(transaction, engine, act, member, revoked && { revokedApiTokenCount: revoked.length });
    return revoked ?? [];
  });
  for (const hashes of revoked) forgetSecrets(parts, hashes);
  authenticator.forgetMembership({ organizationId, userId });
}

/**
 * Ends the membership of the actor. Throws 403 for an API token, which is not a member, and for an OAuth client of the organization. Throws 409 for
 * the last owner.
 */
export async function leaveOrganization(
  { database, engine, authenticator }: RevokingParts,
  act: Act & Partial<Pick<CallerAct, "caller">>,
  organizationId: string,
): Promise<void> {
  const { type, id } = act.actor;
  if (type !== "user") throw tokenCannotLeave();
  if (act.caller?.client !== undefined) throw clientCannotLeave();
  await database.transaction(async (transaction) => {
    await lockGrants(transaction, organizationId);
    const member = await findMember(transaction, organizationId, id);
    if (member === undefined) throw notFound("organization");
    await endMembership(transaction, engine, act, member);
  });
  authenticator.forgetMembership({ organizationId, userId: id });
}

/** Makes the entity tag of a member from the roles, which are all that can be changed. The order of the roles does not count. */
export function etagOfMember({ userId, roles }: Pick<Member, "userId" | "roles">): string {
  return etagOf({ userId, roles: [...roles].sort() });
}

async function endMembership(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  member: Member,
  ended: JsonObject = {},
): Promise<void> {
  const { organizationId, userId, roles } = member;
  await requireOtherOwner(transaction, member);
  await deleteMember(transaction, member, clock.now());
  const details = { roles: [...roles], ...ended };
  const note = { organizationId, targetType: "member", targetId: userId, details } as const;
  await recordAudit(transaction, clock, act, note);
}

function clientCannotLeave(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    "An OAuth client of an organization cannot manage its members. Leave the organization in the dashboard.",
  );
}

function tokenCannotLeave(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    "An API token is not a member of its organization and cannot leave it. Revoke the token instead.",
  );
}
