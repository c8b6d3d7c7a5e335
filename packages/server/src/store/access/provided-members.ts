import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** A user's place in an organization, as an issuer outside keeps it up to date. */
export interface ProvidedMember {
  /** Undefined: no member. */
  readonly roles: readonly string[] | undefined;
  /** Those of the roles that the issuer gave. */
  readonly providerRoles: readonly string[];
}

/** Undefined when there is no such organization (any more). */
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

/** The organization's table alone: `insertMember` made the row. */
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
