import type { Timestamp } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { deleteMember, hasMemberWithRole, insertMember } from "../../store/access/members.ts";
import { lockOrganization } from "../../store/access/organizations.ts";
import { findProvidedMember, type ProvidedMember, updateProvidedMember } from "../../store/access/provided-members.ts";
import { insertAuditEntries } from "../../store/audit/audit.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { presentRoleNames } from "../permissions/roles.ts";
import { type ExternalClaims, rolesNamedBy } from "./claims.ts";
import { type HeldRoles, hasSameRoles, rolesAfter, withOwner } from "./member-roles.ts";
import { type ExternalProvider, signInNameOf } from "./provider.ts";

/** Where the request came from that somebody signs in with. */
export interface Origin {
  readonly requestId: string;
  readonly address: string;
}

export interface MembershipParts {
  readonly now: () => Timestamp;
  readonly newId: () => string;
  /** The provider no longer gives `owner` to the last one, who stays one. */
  readonly onLastOwnerKept: (provider: ExternalProvider, userId: string) => void;
}

export type MembershipState = "member" | "no-role" | "no-organization";

/** Whether the user is a member as the claims say, or what there is to do. Reads only: the usual sign-in changes nothing. */
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

/** Makes the user a member, changes their roles or removes them, as the claims say, and writes it into the audit trail. */
export async function bringMembershipUpToDate(
  parts: MembershipParts,
  transaction: Transaction,
  provider: ExternalProvider,
  user: { readonly userId: string; readonly claims: ExternalClaims; readonly origin: Origin },
): Promise<MembershipState> {
  const { userId, claims } = user;
  const { organizationId } = provider;
  // Changes of who may do what come one after the other, as everywhere.
  if ((await lockOrganization(transaction, organizationId)) === undefined) return "no-organization";
  const { member, after } = await compare(transaction, provider, userId, claims);
  if (member === undefined) return "no-organization";
  const before = member.roles;
  const wasOwner = before?.includes("owner") === true && !after.roles.includes("owner");
  const isLastOwner = wasOwner && !(await hasMemberWithRole(transaction, organizationId, "owner", userId));
  if (isLastOwner) parts.onLastOwnerKept(provider, userId);
  const changed = isLastOwner ? withOwner(after) : after;

  const record = (action: string, details: JsonObject) =>
    recordChange(parts, transaction, provider, { ...user, action, details });
  if (before === undefined) {
    if (changed.roles.length === 0) return "no-role";
    await insertMember(transaction, { organizationId, userId, roles: changed.roles, createdAt: parts.now() });
    await updateProvidedMember(transaction, { organizationId, userId, ...changed });
    await record("JoinBySingleSignOn", { roles: [...changed.roles] });
    return "member";
  }
  if (changed.roles.length === 0) {
    await deleteMember(transaction, organizationId, userId);
    await record("RemoveMember", { roles: [...before] });
    return "no-role";
  }
  const held: HeldRoles = { roles: before, providerRoles: member.providerRoles };
  if (hasSameRoles(held, changed)) return "member";
  await updateProvidedMember(transaction, { organizationId, userId, ...changed });
  await record("UpdateMember", { roles: { from: [...before], to: [...changed.roles] } });
  return "member";
}

async function compare(
  db: Queryable,
  provider: ExternalProvider,
  userId: string,
  claims: ExternalClaims,
): Promise<{ readonly member: ProvidedMember | undefined; readonly after: HeldRoles }> {
  const member = await findProvidedMember(db, provider.organizationId, userId);
  const held = { roles: member?.roles ?? [], providerRoles: member?.providerRoles ?? [] };
  // An access token often says nothing of roles. That takes none away.
  if (member?.roles !== undefined && claims.roleValues === undefined) return { member, after: held };
  const given = await rolesGiven(db, provider, claims.roleValues ?? []);
  return { member, after: rolesAfter(held, given) };
}

/** Only roles that there are in the organization, by the names that they have now; the default ones where there are none. */
async function rolesGiven(
  db: Queryable,
  provider: ExternalProvider,
  values: readonly string[],
): Promise<readonly string[]> {
  const { organizationId, defaultRoles } = provider;
  const given = await presentRoleNames(db, organizationId, rolesNamedBy(provider, values));
  return given.length > 0 ? given : await presentRoleNames(db, organizationId, defaultRoles);
}

async function recordChange(
  { now, newId }: MembershipParts,
  transaction: Transaction,
  provider: ExternalProvider,
  change: { readonly userId: string; readonly origin: Origin; readonly action: string; readonly details: JsonObject },
): Promise<void> {
  const { userId, origin, action, details } = change;
  await insertAuditEntries(transaction, [
    {
      organizationId: provider.organizationId,
      entryId: newId(),
      recordedAt: now(),
      actor: { type: "service", id: signInNameOf(provider), name: provider.name },
      action,
      outcome: "accepted",
      targetType: "member",
      targetId: userId,
      ...origin,
      details,
    },
  ]);
}
