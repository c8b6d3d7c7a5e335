import { findRoles, findRolesEverNamed } from "../../store/access/roles.ts";
import type { Queryable } from "../../store/home/database.ts";
import { builtInRoles, type PermissionSet, permissionsOfRoles } from "./permissions.ts";

export interface RolesFound {
  /** The permissions of all roles that were found, together. */
  readonly permissions: PermissionSet;
  /** Those of the given names that belong to no role of the organization. */
  readonly unknownNames: readonly string[];
}

/** Finds roles of an organization, built-in ones and its own, by their names. */
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

/**
 * Returns the present names of these roles, sorted and without repetitions. A given name may be a former name of a role. A name that no role has or
 * had is left out.
 */
export async function presentRoleNames(
  db: Queryable,
  organizationId: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const ownNames = names.filter((name) => !builtInRoles.has(name));
  const own = await findRolesEverNamed(db, organizationId, ownNames);
  const present = names.filter((name) => builtInRoles.has(name));
  return [...new Set([...present, ...own.map(({ name }) => name)])].sort();
}

const name = "[a-z][a-z0-9-]{0,63}";
const id = "[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}";

export const roleNamePattern = `^${name}$`;
/** A name in the form of an id would be taken for another role's id. */
export const newRoleNamePattern = `^(?!${id}$)${name}$`;
/** A path names a role by its name or its id. */
export const roleNameOrIdPattern = `^(${name}|${id})$`;

export function isRoleName(text: string): boolean {
  return roleName.test(text);
}

export function isRoleNameOrId(text: string): boolean {
  return roleNameOrId.test(text);
}

const roleName = new RegExp(roleNamePattern);
const roleNameOrId = new RegExp(roleNameOrIdPattern);
