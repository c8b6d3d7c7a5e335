import type { Timestamp } from "../core/job-state.ts";
import { type Queryable, statement, type Transaction } from "./database.ts";

export interface Member {
  readonly organizationId: string;
  readonly userId: string;
  readonly roles: readonly string[];
  readonly createdAt: Timestamp;
}

/** In both tables: the organization's own, and the one that leads from a user to their organizations. */
export async function insertMember(transaction: Transaction, member: Member): Promise<void> {
  const { organizationId, userId, roles, createdAt } = member;
  await transaction.query(insertMemberRow, [organizationId, userId, roles, new Date(createdAt).toISOString()]);
  await transaction.query(insertUserOrganization, [userId, organizationId]);
}

const insertMemberRow = statement<never>(
  "insert_member",
  "organization",
  "INSERT INTO member (organization_id, user_id, roles, created_at) VALUES ($1, $2, $3, $4)",
);

const insertUserOrganization = statement<never>(
  "insert_user_organization",
  "global",
  "INSERT INTO user_organization (user_id, organization_id) VALUES ($1, $2)",
);

/** The user's roles; undefined when the user is no member, or the organization does not exist any more. */
export async function findMemberRoles(
  db: Queryable,
  organizationId: string,
  userId: string,
): Promise<readonly string[] | undefined> {
  const [row] = await db.query(findMemberRolesRow, [organizationId, userId]);
  return row?.roles;
}

const findMemberRolesRow = statement<{ roles: readonly string[] }>(
  "find_member_roles",
  "organization",
  `SELECT member.roles
   FROM member
   JOIN organization ON organization.organization_id = member.organization_id
   WHERE member.organization_id = $1 AND organization.organization_id = $1 AND member.user_id = $2
     AND organization.deleted_at IS NULL`,
);
