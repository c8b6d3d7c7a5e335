import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** A role that an organization made itself. */
export interface Role {
  readonly organizationId: string;
  /** The id, which stays the same when the role is renamed. */
  readonly roleId: string;
  readonly name: string;
  /** The earlier names of the role, the newest last. */
  readonly formerNames: readonly string[];
  readonly description: string;
  readonly permissions: readonly string[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

const roleColumns = `
  organization_id AS "organizationId", role_id AS "roleId", name, former_names AS "formerNames", description, permissions,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

export async function insertRole(transaction: Transaction, role: Omit<Role, "formerNames">): Promise<void> {
  await transaction.query(insertRoleRow, [
    role.organizationId,
    role.roleId,
    role.name,
    role.description,
    role.permissions,
    new Date(role.createdAt).toISOString(),
  ]);
}

const insertRoleRow = statement<never>(
  "insert_role",
  "organization",
  `INSERT INTO role (organization_id, role_id, name, description, permissions, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6)`,
);

/** Finds the organization's own roles with these names. */
export async function findRoles(db: Queryable, organizationId: string, names: readonly string[]): Promise<Role[]> {
  if (names.length === 0) return [];
  return await db.query(findRoleRows, [organizationId, names]);
}

const findRoleRows = statement<Role>(
  "find_roles",
  "organization",
  `SELECT ${roleColumns}
   FROM role
   WHERE organization_id = $1 AND name = ANY($2::text[])`,
);

/** Finds the organization's own role with this name or this id. */
export async function findRole(db: Queryable, organizationId: string, nameOrId: string): Promise<Role | undefined> {
  const [row] = await db.query(findRoleRow, [organizationId, nameOrId]);
  return row;
}

const findRoleRow = statement<Role>(
  "find_role",
  "organization",
  `SELECT ${roleColumns}
   FROM role
   WHERE organization_id = $1 AND (name = $2 OR role_id::text = $2)
   ORDER BY name = $2 DESC
   LIMIT 1`,
);

/** Finds the organization's own roles that have one of these names now, or had it before they were renamed. */
export async function findRolesEverNamed(
  db: Queryable,
  organizationId: string,
  names: readonly string[],
): Promise<Role[]> {
  if (names.length === 0) return [];
  return await db.query(findRoleRowsEverNamed, [organizationId, names]);
}

const findRoleRowsEverNamed = statement<Role>(
  "find_roles_ever_named",
  "organization",
  `SELECT ${roleColumns}
   FROM role
   WHERE organization_id = $1 AND (name = ANY($2::text[]) OR former_names && $2::text[])`,
);

/** Lists roles in the order of their names, compared byte by byte. */
export async function listRoles(
  db: Queryable,
  organizationId: string,
  afterName: string | null,
  limit: number,
): Promise<Role[]> {
  return await db.query(listRoleRows, [organizationId, afterName, limit]);
}

const listRoleRows = statement<Role>(
  "list_roles",
  "organization",
  `SELECT ${roleColumns}
   FROM role
   WHERE organization_id = $1 AND ($2::text IS NULL OR name COLLATE "C" > $2)
   ORDER BY name COLLATE "C"
   LIMIT $3`,
  "each-time",
);

export async function countRoles(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(countRoleRows, [organizationId]);
  return row?.roleCount ?? 0;
}

const countRoleRows = statement<{ roleCount: number }>(
  "count_roles",
  "organization",
  `SELECT count(*)::integer AS "roleCount" FROM role WHERE organization_id = $1`,
);

/** Updates a role. A new name must reach members and invitations in the same transaction (`renameRoleOfMembers`, `renameRoleInInvitations`). */
export async function updateRole(transaction: Transaction, role: Role): Promise<void> {
  await transaction.query(updateRoleRow, [
    role.organizationId,
    role.roleId,
    role.name,
    role.formerNames,
    role.description,
    role.permissions,
    new Date(role.updatedAt).toISOString(),
  ]);
}

const updateRoleRow = statement<never>(
  "update_role",
  "organization",
  `UPDATE role
   SET name = $3, former_names = $4, description = $5, permissions = $6, updated_at = $7
   WHERE organization_id = $1 AND role_id = $2`,
);

export async function deleteRole(transaction: Transaction, organizationId: string, roleId: string): Promise<void> {
  await transaction.query(deleteRoleRow, [organizationId, roleId]);
}

const deleteRoleRow = statement<never>(
  "delete_role",
  "organization",
  "DELETE FROM role WHERE organization_id = $1 AND role_id = $2",
);
