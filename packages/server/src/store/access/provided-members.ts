import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** The roles of a user whose membership an external issuer keeps up to date. */
export interface ProvidedMember {
  /** The roles of the member; undefined when the user is not a member. */
  readonly roles: readonly string[] | undefined;
  /** The roles that the issuer gave, a part of `roles`. */
  readonly providerRoles: readonly string[];
}

/** Finds the membership. Undefined when the organization does not exist or is deleted. */
export async function findProvidedMember(
  db: Queryable,
  organizationId: string,
  userId: string,
): Promise<ProvidedMember | undefined> {
  const [row] = await db.query(findProvidedMemberRow, [organizationId, userId]);
  if (row === undefined) return undefined;
  return { roles: row.roles ?? undefined, providerRoles: row.providerRoles ?? [] };
}

interface ProvidedMemberRow {
  readonly roles: readonly string[] | null;
  readonly providerRoles: readonly string[] | null;
}

const findProvidedMemberRow = statement<ProvidedMemberRow>(
  "find_provided_member",
  "organization",
  `SELECT member.roles, member.provider_roles AS "providerRoles"
   FROM organization
   LEFT JOIN member ON member.organization_id = organization.organization_id AND member.user_id = $2
   WHERE organization.organization_id = $1 AND organization.deleted_at IS NULL`,
);

export interface ProvidedRoles {
  readonly organizationId: string;
  readonly userId: string;
  readonly roles: readonly string[];
  readonly providerRoles: readonly string[];
}

/** Updates the roles in the table of members. The table that leads from users to their organizations has no roles, so it need not change. */
export async function updateProvidedMember(
  transaction: Transaction,
  { organizationId, userId, roles, providerRoles }: ProvidedRoles,
): Promise<void> {
  await transaction.query(updateProvidedMemberRow, [organizationId, userId, roles, providerRoles]);
}

const updateProvidedMemberRow = statement<never>(
  "update_provided_member",
  "organization",
  "UPDATE member SET roles = $3, provider_roles = $4 WHERE organization_id = $1 AND user_id = $2",
);
