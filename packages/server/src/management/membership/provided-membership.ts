import { type ExternalClaims, rolesNamedBy } from "../../auth/external/claims.ts";
import { type ExternalProvider, signInNameOf } from "../../auth/external/provider.ts";
import { presentRoleNames } from "../../auth/permissions/roles.ts";
import type { RequestSource } from "../../auth/request-source.ts";
import { deleteMember, insertMember } from "../../store/access/members.ts";
import { lockOrganization } from "../../store/access/organizations.ts";
import { findProvidedMember, type ProvidedMember, updateProvidedMember } from "../../store/access/provided-members.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import type { Act, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { hasRoom } from "../maximums/maximums.ts";
import { isLastOwner } from "./last-owner.ts";
import { type HeldRoles, hasSameRoles, rolesAfter, withOwner } from "./member-roles.ts";

export interface MembershipParts extends Pick<ManagementParts, "database" | "engine" | "config"> {
  /** Called when the provider no longer gives `owner` to the last owner, who stays the owner. */
  readonly onLastOwnerKept: (provider: ExternalProvider, userId: string) => void;
}

export type MembershipState = "member" | "no-role" | "no-room" | "no-organization";

export interface MembershipOutcome {
  readonly state: MembershipState;
  /** False when the membership stays as it was: for example, when the only change would be to take `owner` from the last owner. */
  readonly isChanged: boolean;
}

/** Compares the membership of a user with the claims. It only reads, because most sign-ins change nothing. */
export async function membershipToday(
  db: Queryable,
  provider: ExternalProvider,
  userId: string,
  claims: ExternalClaims,
): Promise<MembershipState | "to-be-changed"> {
  const { member, after } = await compare(db, provider, userId, claims);
  if (member === undefined) return "no-organization";
  const { roles, providerRoles } = member;
  if (roles === undefined) return after.roles.length === 0 ? "no-role" : "to-be-changed";
  return hasSameRoles({ roles, providerRoles }, after) && roles.length > 0 ? "member" : "to-be-changed";
}

/** Makes the user a member, changes the member's roles or ends the membership, as the claims say, and records this in the audit trail. */
export async function bringMembershipUpToDate(
  parts: MembershipParts,
  transaction: Transaction,
  provider: ExternalProvider,
  user: { readonly userId: string; readonly claims: ExternalClaims; readonly source: RequestSource },
): Promise<MembershipOutcome> {
  const { engine } = parts;
  const { userId, claims, source } = user;
  const { organizationId } = provider;
  // This lock lets only one change of memberships run at a time.
  if ((await lockOrganization(transaction, organizationId)) === undefined) return unchanged("no-organization");
  const { member, after } = await compare(transaction, provider, userId, claims);
  if (member === undefined) return unchanged("no-organization");
  const key = { organizationId, userId };
  const before = member.roles;
  const isKeptOwner =
    before !== undefined &&
    !after.roles.includes("owner") &&
    (await isLastOwner(transaction, { ...key, roles: before }));
  if (isKeptOwner) parts.onLastOwnerKept(provider, userId);
  const changed = isKeptOwner ? withOwner(after) : after;

  const actor = { type: "service", id: signInNameOf(provider), name: provider.name } as const;
  const actOf = (operation: string): Act => ({ actor, operation, ...source });
  const note = { organizationId, targetType: "member", targetId: userId } as const;
  if (before === undefined) {
    if (changed.roles.length === 0) return unchanged("no-role");
    if (!(await hasRoom(transaction, parts, { organizationId }, "members"))) return unchanged("no-room");
    await insertMember(transaction, { ...key, roles: changed.roles, createdAt: engine.now() });
    await updateProvidedMember(transaction, { ...key, ...changed });
    const details = { roles: [...changed.roles] };
    await recordAudit(transaction, engine, actOf("JoinBySingleSignOn"), { ...note, details });
    return { state: "member", isChanged: true };
  }
  if (changed.roles.length === 0) {
    await deleteMember(transaction, key, engine.now());
    const details = { roles: [...before] };
    await recordAudit(transaction, engine, actOf("RemoveMember"), { ...note, details });
    return { state: "no-role", isChanged: true };
  }
  const held: HeldRoles = { roles: before, providerRoles: member.providerRoles };
  if (hasSameRoles(held, changed)) return unchanged("member");
  await updateProvidedMember(transaction, { ...key, ...changed });
  const details = { roles: { from: [...before], to: [...changed.roles] } };
  await recordAudit(transaction, engine, actOf("UpdateMember"), { ...note, details });
  return { state: "member", isChanged: true };
}

function unchanged(state: MembershipState): MembershipOutcome {
  return { state, isChanged: false };
}

async function compare(
  db: Queryable,
  provider: ExternalProvider,
  userId: string,
  claims: ExternalClaims,
): Promise<{ readonly member: ProvidedMember | undefined; readonly after: HeldRoles }> {
  const member = await findProvidedMember(db, provider.organizationId, userId);
  const held = { roles: member?.roles ?? [], providerRoles: member?.providerRoles ?? [] };
  // An access token often says nothing about roles. Then no role is taken away.
  if (member?.roles !== undefined && claims.roleValues === undefined) return { member, after: held };
  const given = await rolesGiven(db, provider, claims.roleValues ?? []);
  return { member, after: rolesAfter(held, given) };
}

/**
 * Returns the roles that the claims give and that exist in the organization, by their present names. If the claims give none, returns the default
 * roles.
 */
async function rolesGiven(
  db: Queryable,
  provider: ExternalProvider,
  values: readonly string[],
): Promise<readonly string[]> {
  const { organizationId, defaultRoles } = provider;
  const given = await presentRoleNames(db, organizationId, rolesNamedBy(provider, values));
  return given.length > 0 ? given : await presentRoleNames(db, organizationId, defaultRoles);
}
