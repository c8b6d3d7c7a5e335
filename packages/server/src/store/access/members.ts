import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { endClientSessions } from "../people/user-sessions.ts";
import { deleteOAuthConsents } from "./oauth-clients.ts";

export interface Member {
  readonly organizationId: string;
  readonly userId: string;
  readonly roles: readonly string[];
  readonly createdAt: Timestamp;
}

/** Inserts a member into both tables: the table of the organization's members, and the table that leads from a user to the user's organizations. */
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

/** A user's roles in an organization, with the permissions of the roles that the organization made itself. */
export interface Membership {
  readonly organizationId: string;
  readonly roles: readonly string[];
  readonly ownRolePermissions: readonly string[];
  /** True when the organization requires a second factor of its members. */
  readonly requiresSecondFactor: boolean;
}

/** Finds the user's memberships in these organizations. Deleted organizations are left out. */
export async function findMemberships(
  db: Queryable,
  userId: string,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, Membership>> {
  if (organizationIds.length === 0) return new Map();
  const memberships = new Map<string, Membership>();
  for (const { permissions, ...row } of await db.query(findMembershipRows, [organizationIds, userId])) {
    const others = memberships.get(row.organizationId)?.ownRolePermissions ?? [];
    memberships.set(row.organizationId, { ...row, ownRolePermissions: [...others, ...(permissions ?? [])] });
  }
  return memberships;
}

/** One row for each of the member's roles that the organization made itself. A member without such a role has one row, without permissions. */
interface MembershipRow extends Omit<Membership, "ownRolePermissions"> {
  readonly permissions: readonly string[] | null;
}

const findMembershipRows = statement<MembershipRow>(
  "find_memberships",
  "organization",
  `SELECT member.organization_id AS "organizationId", member.roles, role.permissions,
     organization.requires_second_factor AS "requiresSecondFactor"
   FROM member
   JOIN organization ON organization.organization_id = member.organization_id
   LEFT JOIN role ON role.organization_id = ANY($1::uuid[]) AND role.organization_id = member.organization_id
     AND role.name = ANY(member.roles)
   WHERE member.organization_id = ANY($1::uuid[]) AND organization.organization_id = ANY($1::uuid[])
     AND member.user_id = $2 AND organization.deleted_at IS NULL`,
);

const memberColumns = `organization_id AS "organizationId", user_id AS "userId", roles, created_at AS "createdAt"`;

export async function findMember(db: Queryable, organizationId: string, userId: string): Promise<Member | undefined> {
  const [row] = await db.query(findMemberRow, [organizationId, userId]);
  return row;
}

const findMemberRow = statement<Member>(
  "find_member",
  "organization",
  `SELECT ${memberColumns}
   FROM member
   WHERE organization_id = $1 AND user_id = $2`,
);

export async function countMembers(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(countMemberRows, [organizationId]);
  return row?.memberCount ?? 0;
}

const countMemberRows = statement<{ memberCount: number }>(
  "count_members",
  "organization",
  `SELECT count(*)::integer AS "memberCount" FROM member WHERE organization_id = $1`,
);

export interface MemberPage {
  readonly afterUserId: string | null;
  readonly limit: number;
  /** Restricts the list to members with this role; null for all members. */
  readonly role: string | null;
}

export async function listMembers(
  db: Queryable,
  organizationId: string,
  { afterUserId, limit, role }: MemberPage,
): Promise<Member[]> {
  return await db.query(listMemberRows, [organizationId, afterUserId, role, limit]);
}

const listMemberRows = statement<Member>(
  "list_members",
  "organization",
  `SELECT ${memberColumns}
   FROM member
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR user_id > $2) AND ($3::text IS NULL OR $3 = ANY(roles))
   ORDER BY user_id
   LIMIT $4`,
  "each-time",
);

/** Whether any member other than `exceptUserId` has the role. */
export async function hasMemberWithRole(
  db: Queryable,
  organizationId: string,
  role: string,
  exceptUserId: string | null = null,
): Promise<boolean> {
  const rows = await db.query(findMemberWithRole, [organizationId, role, exceptUserId]);
  return rows.length > 0;
}

const findMemberWithRole = statement<{ found: number }>(
  "find_member_with_role",
  "organization",
  `SELECT 1 AS found
   FROM member
   WHERE organization_id = $1 AND $2 = ANY(roles) AND ($3::uuid IS NULL OR user_id <> $3)
   LIMIT 1`,
);

export async function updateMemberRoles(transaction: Transaction, member: Member): Promise<void> {
  await transaction.query(updateMemberRolesRow, [member.organizationId, member.userId, member.roles]);
}

const updateMemberRolesRow = statement<never>(
  "update_member_roles",
  "organization",
  "UPDATE member SET roles = $3 WHERE organization_id = $1 AND user_id = $2",
);

/** Renames the role for every member who has it. Both the roles that people gave and those of an identity provider's mapping are renamed. */
export async function renameRoleOfMembers(transaction: Transaction, renamed: RenamedRole): Promise<void> {
  await transaction.query(renameRoleOfMemberRows, [renamed.organizationId, renamed.from, renamed.to]);
}

export interface RenamedRole {
  readonly organizationId: string;
  readonly from: string;
  readonly to: string;
}

const renameRoleOfMemberRows = statement<never>(
  "rename_role_of_members",
  "organization",
  `UPDATE member
   SET roles = array_replace(roles, $2, $3), provider_roles = array_replace(provider_roles, $2, $3)
   WHERE organization_id = $1 AND ($2 = ANY(roles) OR $2 = ANY(provider_roles))`,
);

/** Deletes a member from the tables of `insertMember`, and the member's consents. Ends the member's sessions in the organization's clients. */
export async function deleteMember(
  transaction: Transaction,
  { organizationId, userId }: Pick<Member, "organizationId" | "userId">,
  at: Timestamp,
): Promise<void> {
  // Sessions are written before consents in every change that writes both, so that two changes cannot deadlock.
  await endClientSessions(transaction, { organizationId, userId }, at);
  await deleteOAuthConsents(transaction, organizationId, userId);
  await transaction.query(deleteMemberRow, [organizationId, userId]);
  await transaction.query(deleteUserOrganization, [userId, organizationId]);
}

const deleteMemberRow = statement<never>(
  "delete_member",
  "organization",
  "DELETE FROM member WHERE organization_id = $1 AND user_id = $2",
);

const deleteUserOrganization = statement<never>(
  "delete_user_organization",
  "global",
  "DELETE FROM user_organization WHERE user_id = $1 AND organization_id = $2",
);
