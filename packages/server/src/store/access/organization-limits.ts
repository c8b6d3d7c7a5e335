import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** The limits that the operator set for one organization. */
export interface OrganizationLimits {
  readonly organizationId: string;
  /** The maximums by name. A maximum that is missing here has the configured value. */
  readonly maximums: Readonly<Record<string, number>>;
  /** The limit on requests per minute. Null means the configured value, 0 means no limit. */
  readonly requestsPerMinute: number | null;
  readonly submitsPerMinute: number | null;
}

const limitColumns = `
  organization_id AS "organizationId", requests_per_minute AS "requestsPerMinute", submits_per_minute AS "submitsPerMinute",
  maximums`;

export async function findOrganizationLimits(
  db: Queryable,
  organizationId: string,
): Promise<OrganizationLimits | undefined> {
  const [row] = await db.query(findOrganizationLimitsRow, [organizationId]);
  return row;
}

const findOrganizationLimitsRow = statement<OrganizationLimits>(
  "find_organization_limits",
  "organization",
  `SELECT ${limitColumns}
   FROM organization_limit
   WHERE organization_id = $1`,
);

/**
 * Stores limits and returns the time of this change, by the database's clock. Nodes find changed limits by this time. They read the time in
 * milliseconds, so it is stored in milliseconds, too.
 */
export async function setOrganizationLimits(db: Queryable, limits: OrganizationLimits): Promise<Timestamp> {
  const { organizationId, requestsPerMinute, submitsPerMinute, maximums } = limits;
  const values = [organizationId, requestsPerMinute, submitsPerMinute, JSON.stringify(maximums)];
  const [row] = await db.query(setOrganizationLimitsRow, values);
  if (row === undefined) throw new Error("The organization's limits were not set.");
  return row.updatedAt;
}

const setOrganizationLimitsRow = statement<{ updatedAt: Timestamp }>(
  "set_organization_limits",
  "organization",
  `INSERT INTO organization_limit (organization_id, requests_per_minute, submits_per_minute, maximums, updated_at)
   VALUES ($1, $2, $3, $4, date_trunc('milliseconds', now()))
   ON CONFLICT (organization_id) DO UPDATE
   SET requests_per_minute = excluded.requests_per_minute, submits_per_minute = excluded.submits_per_minute,
     maximums = excluded.maximums, updated_at = excluded.updated_at
   RETURNING updated_at AS "updatedAt"`,
);

export interface ChangedLimits extends OrganizationLimits {
  readonly updatedAt: Timestamp;
}

/**
 * Lists limits in the order of the times at which they were set. Limits with the same time are in the order of their organizations' ids. The list
 * begins after the time and the organization of `after`.
 */
export async function listChangedLimits(
  db: Queryable,
  after: { readonly updatedAt: Timestamp; readonly organizationId: string },
  limit: number,
): Promise<ChangedLimits[]> {
  return await db.query(listChangedLimitRows, [new Date(after.updatedAt).toISOString(), after.organizationId, limit]);
}

const listChangedLimitRows = statement<ChangedLimits>(
  "list_changed_limits",
  "maintenance",
  `SELECT ${limitColumns}, updated_at AS "updatedAt"
   FROM organization_limit
   WHERE (updated_at, organization_id) > ($1::timestamptz, $2::uuid)
   ORDER BY updated_at, organization_id
   LIMIT $3`,
  "once",
  { order: ["updatedAt", "organizationId"], times: ["updatedAt"], whole: true },
);
