import type { Timestamp } from "../core/job-state.ts";
import { type Queryable, statement, type Transaction } from "./database.ts";

/** A role that an organization made itself. */
export interface Role {
  readonly organizationId: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

const roleColumns = `
  organization_id AS "organizationId", name, description, permissions, created_at AS "createdAt", updated_at AS "updatedAt"`;

export async function insertRole(transaction: Transaction, role: Role): Promise<void> {
  await transaction.query(insertRoleRow, [
    role.organizationId,
    role.name,
    role.description,
    role.permissions,
    new Date(role.createdAt).toISOString(),
  ]);
}

const insertRoleRow = statement<never>(
  "insert_role",
  "organization",
  `INSERT INTO role (organization_id, name, description, permissions, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $5)`,
);

/** Those of these names that are roles which the organization made itself. */
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

/** By name, in the order of its bytes. */
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

export async function updateRole(transaction: Transaction, role: Role): Promise<void> {
  await transaction.query(updateRoleRow, [
    role.organizationId,
    role.name,
    role.description,
    role.permissions,
    new Date(role.updatedAt).toISOString(),
  ]);
}

const updateRoleRow = statement<never>(
  "update_role",
  "organization",
  `UPDATE role
   SET description = $3, permissions = $4, updated_at = $5
   WHERE organization_id = $1 AND name = $2`,
);

export async function deleteRole(transaction: Transaction, organizationId: string, name: string): Promise<void> {
  await transaction.query(deleteRoleRow, [organizationId, name]);
}

const deleteRoleRow = statement<never>(
  "delete_role",
  "organization",
  "DELETE FROM role WHERE organization_id = $1 AND name = $2",
);
