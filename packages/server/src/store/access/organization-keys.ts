import { type Queryable, statement, type Transaction } from "../home/database.ts";

/**
 * Gives the organization the first of these keys that is free. Returns the organization's key; undefined when all are taken. An organization that has
 * a key already keeps it. Waits when another transaction is taking the same key.
 */
export async function claimOrganizationKey(
  transaction: Transaction,
  organizationId: string,
  keys: readonly string[],
): Promise<string | undefined> {
  for (const key of keys) {
    const claimed = await transaction.query(claimOrganizationKeyRow, [key, organizationId]);
    if (claimed.length > 0) return key;
  }
  return (await findOrganizationKeys(transaction, [organizationId])).get(organizationId);
}

const claimOrganizationKeyRow = statement<{ key: string }>(
  "claim_organization_key",
  "global",
  `INSERT INTO organization_key (key, organization_id) VALUES ($1, $2)
   ON CONFLICT DO NOTHING
   RETURNING key`,
);

/** Notes who made an organization, in the row of its key, which must be there already. */
export async function setOrganizationCreator(
  transaction: Transaction,
  organizationId: string,
  userId: string,
): Promise<void> {
  await transaction.query(setOrganizationCreatorRow, [organizationId, userId]);
}

const setOrganizationCreatorRow = statement<never>(
  "set_organization_creator",
  "global",
  "UPDATE organization_key SET created_by = $2 WHERE organization_id = $1",
);

/** Counts the organizations that the user made, except deleted ones. */
export async function countOrganizationsCreatedBy(db: Queryable, userId: string): Promise<number> {
  const [row] = await db.query(countOrganizationsCreatedByRow, [userId]);
  return row?.organizationCount ?? 0;
}

const countOrganizationsCreatedByRow = statement<{ organizationCount: number }>(
  "count_organizations_created_by",
  "global",
  `SELECT count(*)::integer AS "organizationCount" FROM organization_key WHERE created_by = $1`,
);

/** Finds the keys of organizations, by organization id. */
export async function findOrganizationKeys(
  db: Queryable,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await db.query(findOrganizationKeyRows, [organizationIds]);
  return new Map(rows.map(({ organizationId, key }) => [organizationId, key]));
}

const findOrganizationKeyRows = statement<{ organizationId: string; key: string }>(
  "find_organization_keys",
  "global",
  `SELECT organization_id AS "organizationId", key
   FROM organization_key
   WHERE organization_id = ANY($1::uuid[])`,
);

/** Frees the organization's key. */
export async function deleteOrganizationKey(transaction: Transaction, organizationId: string): Promise<void> {
  await transaction.query(deleteOrganizationKeyRow, [organizationId]);
}

const deleteOrganizationKeyRow = statement<never>(
  "delete_organization_key",
  "global",
  "DELETE FROM organization_key WHERE organization_id = $1",
);
