import type { PermissionSet } from "../auth/permissions.ts";
import { lookUpRoles } from "../auth/roles.ts";
import { quoted } from "../core/problem.ts";
import { notFound, ServiceError } from "../core/service-error.ts";
import type { Transaction } from "../store/database.ts";
import { lockOrganization } from "../store/organizations.ts";
import { requireAll } from "./authorization.ts";

/**
 * Who may do what in an organization is changed by one transaction at a time: so two owners who leave at one instant do not both find
 * that the other one stays, and nobody is given a role that is deleted at that instant.
 */
export async function lockGrants(transaction: Transaction, organizationId: string): Promise<void> {
  if ((await lockOrganization(transaction, organizationId)) === undefined) throw notFound("organization");
}

/** Throws 403 unless the caller holds everything that these roles of somebody hold. */
export async function requireRolesHeld(
  transaction: Transaction,
  organizationId: string,
  granted: PermissionSet,
  roles: readonly string[],
): Promise<void> {
  const { permissions } = await lookUpRoles(transaction, organizationId, roles);
  requireAll(granted, permissions);
}

/** The same of roles that a body names in `/roles`, where each must be a role: 400 otherwise. */
export async function requireGrantableRoles(
  transaction: Transaction,
  organizationId: string,
  granted: PermissionSet,
  roles: readonly string[],
): Promise<void> {
  const { permissions, unknownNames } = await lookUpRoles(transaction, organizationId, roles);
  const [first] = unknownNames;
  if (first !== undefined) throw unknownRoles(roles, unknownNames, first);
  requireAll(granted, permissions);
}

function unknownRoles(roles: readonly string[], unknownNames: readonly string[], first: string): ServiceError {
  const detail = "is no role of this organization";
  const problems = unknownNames.map((name) => ({ pointer: `/roles/${roles.indexOf(name)}`, detail }));
  return new ServiceError("ValidationError", `${quoted(first)} ${detail}. ListRoles names those that there are.`, {
    problems,
  });
}
