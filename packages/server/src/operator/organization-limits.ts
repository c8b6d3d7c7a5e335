import type { Config } from "../config.ts";
import { ServiceError } from "../core/service-error.ts";
import type { Act } from "../management/act/act.ts";
import {
  type LimitChanges,
  type MaximumChanges,
  readOrganizationLimits,
  updateOrganizationLimits,
} from "../management/maximums/organization-limits.ts";
import { openStore } from "../open-store.ts";
import type { OrganizationLimits } from "../store/access/organization-limits.ts";
import { findOrganization } from "../store/access/organizations.ts";
import { DirectoryLockedError } from "../store/home/directory-lock.ts";

export type { LimitChanges, MaximumChanges };

const act = {
  actor: { type: "service", id: "stepwell organization limits" },
  operation: "UpdateOrganizationLimits",
  requestId: "",
  address: "",
} as const satisfies Act;

/**
 * Changes the limits of one organization directly in the store: the API cannot change them, because only the operator may. Returns the new limits.
 * Without changes it only reads.
 */
export async function changeOrganizationLimits(
  config: Config,
  organizationId: string,
  changes: LimitChanges,
): Promise<OrganizationLimits> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(organizationId)) throw unknownOrganization(organizationId);
  const database = await openStore(config).catch(explainLock);
  try {
    if ((await findOrganization(database, organizationId)) === undefined) throw unknownOrganization(organizationId);
    if (Object.keys(changes).length === 0) return await readOrganizationLimits(database, organizationId);
    return await updateOrganizationLimits(database, act, organizationId, changes);
  } finally {
    await database.close();
  }
}

function unknownOrganization(organizationId: string): ServiceError {
  return new ServiceError(
    "NotFoundError",
    `This store has no organization ${organizationId}. GET /organizations shows the ids of your organizations.`,
  );
}

function explainLock(error: unknown): never {
  if (!(error instanceof DirectoryLockedError)) throw error;
  throw new Error(
    "A running service holds the embedded store. Stop it, set the limits, and start it again. A service with a PostgreSQL server (DATABASE_URL) need not be stopped.",
    { cause: error },
  );
}
