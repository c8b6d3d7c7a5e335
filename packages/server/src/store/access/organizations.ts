import type { Timestamp } from "../../core/time.ts";
import { type Queryable, type Statement, statement, type Transaction } from "../home/database.ts";

export interface Organization {
  readonly organizationId: string;
  readonly name: string;
  readonly displayName: string;
  readonly createdAt: Timestamp;
  /** True when members without a second factor are refused. */
  readonly requiresSecondFactor: boolean;
}

const organizationColumns = `
  organization.organization_id AS "organizationId", organization.name, organization.display_name AS "displayName",
  organization.created_at AS "createdAt", organization.requires_second_factor AS "requiresSecondFactor"`;

export type NewOrganization = Omit<Organization, "requiresSecondFactor">;

export async function insertOrganization(transaction: Transaction, organization: NewOrganization): Promise<void> {
  const { organizationId, name, displayName, createdAt } = organization;
  await transaction.query(insertOrganizationRow, [
    organizationId,
    name,
    displayName,
    new Date(createdAt).toISOString(),
  ]);
}

const insertOrganizationRow = statement<never>(
  "insert_organization",
  "organization",
  `INSERT INTO organization (organization_id, name, display_name, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $4)`,
);

export async function findOrganization(db: Queryable, organizationId: string): Promise<Organization | undefined> {
  const [row] = await db.query(findOrganizationRow, [organizationId]);
  return row;
}

const findOrganizationRow = statement<Organization>(
  "find_organization",
  "organization",
  `SELECT ${organizationColumns}
   FROM organization
   WHERE organization_id = $1 AND deleted_at IS NULL`,
);

/** Lists the ids of the organizations in which the user is a member, newest first. Deleted organizations may be among them. */
export async function listOrganizationIdsOfUser(
  db: Queryable,
  userId: string,
  beforeOrganizationId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(listOrganizationIdRows, [userId, beforeOrganizationId, limit]);
  return rows.map((row) => row.organizationId);
}

const listOrganizationIdRows = statement<{ organizationId: string }>(
  "list_organization_ids_of_user",
  "global",
  `SELECT organization_id AS "organizationId"
   FROM user_organization
   WHERE user_id = $1 AND ($2::uuid IS NULL OR organization_id < $2)
   ORDER BY organization_id DESC
   LIMIT $3`,
  "each-time",
);

/** Finds the organizations with these ids, except deleted ones, newest first. */
export async function findOrganizations(db: Queryable, organizationIds: readonly string[]): Promise<Organization[]> {
  if (organizationIds.length === 0) return [];
  return await db.query(findOrganizationRows, [organizationIds]);
}

const findOrganizationRows = statement<Organization>(
  "find_organizations",
  "organization",
  `SELECT ${organizationColumns}
   FROM organization
   WHERE organization_id = ANY($1::uuid[]) AND deleted_at IS NULL
   ORDER BY organization_id DESC`,
);

/** Locks the organization against other changes of its own row. Things that belong to the organization can change meanwhile. */
export async function lockOrganization(
  transaction: Transaction,
  organizationId: string,
): Promise<Organization | undefined> {
  const [row] = await transaction.query(lockOrganizationRow, [organizationId]);
  return row;
}

const lockOrganizationRow = statement<Organization>(
  "lock_organization",
  "organization",
  `SELECT ${organizationColumns}
   FROM organization
   WHERE organization_id = $1 AND deleted_at IS NULL
   FOR NO KEY UPDATE`,
);

/** Writes those fields that can change, for a locked organization. */
export async function updateOrganization(
  transaction: Transaction,
  { organizationId, name, displayName, requiresSecondFactor }: Organization,
  at: Timestamp,
): Promise<void> {
  const updatedAt = new Date(at).toISOString();
  await transaction.query(updateOrganizationRow, [organizationId, name, displayName, updatedAt, requiresSecondFactor]);
}

const updateOrganizationRow = statement<never>(
  "update_organization",
  "organization",
  `UPDATE organization
   SET name = $2, display_name = $3, updated_at = $4, requires_second_factor = $5
   WHERE organization_id = $1 AND deleted_at IS NULL`,
);

/**
 * Claims the organization. Waits for the transactions that are submitting or resuming a job of the organization. Until this transaction ends, no
 * other transaction submits or resumes such a job. Returns false when the organization does not exist.
 */
export async function claimOrganization(transaction: Transaction, organizationId: string): Promise<boolean> {
  const rows = await transaction.query(claimOrganizationRow, [organizationId]);
  return rows.length > 0;
}

const claimOrganizationRow = statement<{ found: number }>(
  "claim_organization",
  "organization",
  "SELECT 1 AS found FROM organization WHERE organization_id = $1 AND deleted_at IS NULL FOR UPDATE",
);

/** Hides a claimed organization and everything in it. Also deletes its workflows, so that no job can be submitted any more. */
export async function deleteOrganization(
  transaction: Transaction,
  organizationId: string,
  at: Timestamp,
): Promise<void> {
  const deletedAt = new Date(at).toISOString();
  await transaction.query(deleteOrganizationRow, [organizationId, deletedAt]);
  await transaction.query(deleteWorkflowsOfOrganization, [organizationId, deletedAt]);
}

export interface HeldOrganizations {
  /** The organizations that are neither deleted nor claimed. Nobody can claim them until this transaction ends. */
  readonly living: ReadonlySet<string>;
  /** The organizations that another transaction has claimed. Whether they are deleted is known only when that other transaction ends. */
  readonly claimed: ReadonlySet<string>;
}

/** Locks organizations, so that nobody claims them until the transaction ends. Like `lockJobs`, this waits for no other transaction. */
export async function holdOrganizations(
  transaction: Transaction,
  organizationIds: readonly string[],
): Promise<HeldOrganizations> {
  const asked = [...new Set(organizationIds)];
  const living = await organizationsOf(transaction, holdOrganizationRows, asked);
  const missing = asked.filter((organizationId) => !living.has(organizationId));
  return { living, claimed: await organizationsOf(transaction, findLivingOrganizations, missing) };
}

async function organizationsOf(
  transaction: Transaction,
  rows: Statement<{ organizationId: string }>,
  organizationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (organizationIds.length === 0) return new Set();
  const found = await transaction.query(rows, [organizationIds]);
  return new Set(found.map((row) => row.organizationId));
}

const findLivingOrganizations = statement<{ organizationId: string }>(
  "find_living_organizations",
  "organization",
  `SELECT organization_id AS "organizationId"
   FROM organization
   WHERE organization_id = ANY($1::uuid[]) AND deleted_at IS NULL`,
);

const holdOrganizationRows = statement<{ organizationId: string }>(
  "hold_organizations",
  "organization",
  `SELECT organization_id AS "organizationId"
   FROM organization
   WHERE organization_id = ANY($1::uuid[]) AND deleted_at IS NULL
   FOR KEY SHARE SKIP LOCKED`,
);

const deleteOrganizationRow = statement<never>(
  "delete_organization",
  "organization",
  "UPDATE organization SET deleted_at = $2 WHERE organization_id = $1 AND deleted_at IS NULL",
);

const deleteWorkflowsOfOrganization = statement<never>(
  "delete_workflows_of_organization",
  "organization",
  "UPDATE workflow SET deleted_at = $2 WHERE organization_id = $1 AND deleted_at IS NULL",
);

/** Whether a job of this organization is not finished, that is, PENDING or RUNNING. */
export async function hasUnfinishedJobs(db: Queryable, organizationId: string): Promise<boolean> {
  const rows = await db.query(findUnfinishedJob, [organizationId]);
  return rows.length > 0;
}

const findUnfinishedJob = statement<{ found: number }>(
  "find_unfinished_job",
  "organization",
  "SELECT 1 AS found FROM job WHERE organization_id = $1 AND status IN ('PENDING', 'RUNNING') LIMIT 1",
);
