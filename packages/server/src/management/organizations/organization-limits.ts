import { notFound } from "../../core/service-error.ts";
import {
  findOrganizationLimits,
  type OrganizationLimits,
  setOrganizationLimits,
} from "../../store/access/organization-limits.ts";
import { lockOrganization } from "../../store/access/organizations.ts";
import type { Database, Queryable } from "../../store/home/database.ts";
import type { Act } from "../act/act.ts";
import { changesOf, recordAudit } from "../act/audit-trail.ts";

/** A limit that is left out stays as it is, null makes it the configuration's again, 0 lifts it. */
export type LimitChanges = Partial<Omit<OrganizationLimits, "organizationId">>;

/**
 * Changes the rate limits of an organization and answers what they are now. They are the operator's; the organization's audit trail tells of it. Throws
 * 404 when there is no such organization.
 */
export async function updateOrganizationLimits(
  database: Database,
  act: Act,
  organizationId: string,
  changes: LimitChanges,
): Promise<OrganizationLimits> {
  return await database.transaction(async (transaction) => {
    if ((await lockOrganization(transaction, organizationId)) === undefined) throw notFound("organization");
    const before = await readOrganizationLimits(transaction, organizationId);
    const limits = { ...before, ...changes };
    const changedAt = await setOrganizationLimits(transaction, limits);
    const note = { organizationId, targetType: "organization", targetId: organizationId } as const;
    await recordAudit(transaction, { now: () => changedAt }, act, { ...note, details: changesOf(before, changes) });
    return limits;
  });
}

export async function readOrganizationLimits(db: Queryable, organizationId: string): Promise<OrganizationLimits> {
  const limits = await findOrganizationLimits(db, organizationId);
  return limits ?? { organizationId, requestsPerMinute: null, submitsPerMinute: null };
}
