import type { Queryable } from "../store/database.ts";
import { findRoles } from "../store/roles.ts";
import { builtInRoles, type PermissionSet, permissionsOfRoles } from "./permissions.ts";

export interface RolesFound {
  /** What all of them permit together. */
  readonly permissions: PermissionSet;
  /** Those of the names that are no role of the organization. */
  readonly unknownNames: readonly string[];
}

/** Roles of an organization, built-in ones and its own, by their names. */
export async function lookUpRoles(
  db: Queryable,
  organizationId: string,
  names: readonly string[],
): Promise<RolesFound> {
  const ownNames = names.filter((name) => !builtInRoles.has(name));
  const own = await findRoles(db, organizationId, ownNames);
  return {
    permissions: permissionsOfRoles(
      names,
      own.flatMap((role) => role.permissions),
    ),
    unknownNames: ownNames.filter((name) => !own.some((role) => role.name === name)),
  };
}

export const roleNamePattern = "^[a-z][a-z0-9-]{0,63}$";

export function isRoleName(text: string): boolean {
  return roleName.test(text);
}

const roleName = new RegExp(roleNamePattern);
