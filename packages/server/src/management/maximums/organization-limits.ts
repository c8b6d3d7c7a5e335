import { type MaximumName, maximumNames } from "../../config.ts";
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

/** The changes of limits. A limit that is left out stays as it is. Null restores the configuration's limit. A rate of 0 means no limit. */
export interface LimitChanges {
  readonly requestsPerMinute?: number | null;
  readonly submitsPerMinute?: number | null;
  readonly maximums?: MaximumChanges;
}

export type MaximumChanges = Readonly<Partial<Record<MaximumName, number | null>>>;

/**
 * Changes the limits of an organization and returns the new ones. Only the operator sets them, and the organization's audit trail records the change.
 * Throws 404 when there is no such organization.
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
    const { maximums: changedMaximums = {}, ...rates } = changes;
    const limits = { ...before, ...rates, maximums: changed(before.maximums, changedMaximums) };
    const changedAt = await setOrganizationLimits(transaction, limits);
    const note = { organizationId, targetType: "organization", targetId: organizationId } as const;
    await recordAudit(transaction, { now: () => changedAt }, act, {
      ...note,
      details: changesOf(flat(before), flat(limits)),
    });
    return limits;
  });
}

function changed(before: OrganizationLimits["maximums"], changes: MaximumChanges): OrganizationLimits["maximums"] {
  const after = Object.entries({ ...before, ...changes });
  return Object.fromEntries(after.filter((entry): entry is [string, number] => entry[1] !== null));
}

/** Names the limits as the audit trail does, where a maximum that is not set is null. */
function flat({ requestsPerMinute, submitsPerMinute, maximums }: OrganizationLimits) {
  const all = Object.fromEntries(maximumNames.map((name) => [name, maximums[name] ?? null]));
  return { requestsPerMinute, submitsPerMinute, ...all };
}

export async function readOrganizationLimits(db: Queryable, organizationId: string): Promise<OrganizationLimits> {
  const limits = await findOrganizationLimits(db, organizationId);
  return limits ?? { organizationId, requestsPerMinute: null, submitsPerMinute: null, maximums: {} };
}
