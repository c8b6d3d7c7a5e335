import { actorOf } from "../../auth/caller.ts";
import { requireCurrentSecret, requireLasting } from "../../auth/credentials/lasting-credential.ts";
import { permissionsOfActor } from "../../auth/permissions/actor-permissions.ts";
import type { PermissionSet } from "../../auth/permissions/permissions.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { lookUpRoles } from "../../auth/permissions/roles.ts";
import { hasSecondFactor, secondFactorDemanded } from "../../auth/permissions/second-factor-demand.ts";
import { quoted } from "../../core/problem.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { lockOrganization, type Organization } from "../../store/access/organizations.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { CallerAct, Clock } from "./act.ts";

/**
 * Locks an organization's grants, so that only one transaction at a time changes its members and permissions. Otherwise, two owners could leave at
 * the same time, because each would see that the other one stays. Somebody could also be given a role that is being deleted.
 */
export async function lockGrants(transaction: Transaction, organizationId: string): Promise<Organization> {
  const organization = await lockOrganization(transaction, organizationId);
  if (organization === undefined) throw notFound("organization");
  return organization;
}

/**
 * Locks the grants like `lockGrants`, for an act that grants, changes or takes away permissions. Returns what the caller may do now. This is read
 * from the store. Authorization and authentication may remember earlier permissions and credentials for a second, and a grant that was based on
 * these would stay. Throws 403 for a secret that was rotated away: it still works for a while, but cannot grant anything or take anything away.
 */
export async function lockGrantsFor(
  transaction: Transaction,
  clock: Clock,
  { caller, permission }: CallerAct,
  organizationId: string,
  options: GrantOptions = {},
): Promise<PermissionSet> {
  const { requiresSecondFactor } = await lockGrants(transaction, organizationId);
  if (caller.principal.type === "user") {
    await requireLasting(transaction, caller);
    if (requiresSecondFactor && !(await hasSecondFactor(transaction, caller))) throw secondFactorDemanded();
  }
  const granted = await permissionsOfActor(transaction, organizationId, actorOf(caller), clock.now());
  if (granted === undefined) throw notFound("organization");
  requireAll(granted, [permission]);
  if (options.isRepetition !== true) await requireCurrentSecret(transaction, caller);
  return granted;
}

export interface GrantOptions {
  /** True for a repetition whose first attempt may have rotated the caller's own secret away. The repetition itself checks whether that happened. */
  readonly isRepetition?: boolean;
}

/** Throws 403 unless the caller holds every permission of these roles. */
export async function requireRolesHeld(
  transaction: Transaction,
  organizationId: string,
  granted: PermissionSet,
  roles: readonly string[],
): Promise<void> {
  const { permissions } = await lookUpRoles(transaction, organizationId, roles);
  requireAll(granted, permissions);
}

/** Throws 400, with pointers, for names that belong to no role, and 403 when the caller lacks a permission of one of the roles. */
export async function requireGrantableRoles(
  transaction: Transaction,
  organizationId: string,
  granted: PermissionSet,
  roles: readonly string[],
  pointerOf = pointerToRole,
): Promise<void> {
  const { permissions, unknownNames } = await lookUpRoles(transaction, organizationId, roles);
  const [first] = unknownNames;
  if (first !== undefined) {
    const pointers = unknownNames.map((name) => pointerOf(roles.indexOf(name)));
    throw unknownRoles(first, pointers);
  }
  requireAll(granted, permissions);
}

export function pointerToRole(index: number): string {
  return `/roles/${index}`;
}

function unknownRoles(first: string, pointers: readonly string[]): ServiceError {
  const detail = "is not a role of this organization";
  const problems = pointers.map((pointer) => ({ pointer, detail }));
  return new ServiceError("ValidationError", `${quoted(first)} ${detail}. ListRoles shows the roles that exist.`, {
    problems,
  });
}
