import { organizationKeysFor } from "../../core/organization-key.ts";
import { quoted } from "../../core/problem.ts";
import { ServiceError } from "../../core/service-error.ts";
import { claimOrganizationKey, findOrganizationKeys } from "../../store/access/organization-keys.ts";
import type { Organization } from "../../store/access/organizations.ts";
import type { Database, Transaction } from "../../store/home/database.ts";

type NamedOrganization = Pick<Organization, "organizationId" | "name">;

/**
 * Gives a key to an organization that has none: the requested key or, without a request, one that is made from the organization's name. Throws 409
 * when the key is taken. An organization that has a key keeps it.
 */
export async function claimKey(
  transaction: Transaction,
  { organizationId, name }: NamedOrganization,
  askedFor?: string,
): Promise<string> {
  const keys = askedFor === undefined ? organizationKeysFor(name, organizationId) : [askedFor];
  const key = await claimOrganizationKey(transaction, organizationId, keys);
  if (key !== undefined) return key;
  throw new ServiceError(
    "ConflictError",
    `Another organization has the key ${keys.map(quoted).join(", ")}. Choose another key, or leave it out, and the service makes one.`,
  );
}

export interface KeyedOrganization extends Organization {
  readonly key: string;
}

export async function withKeys(
  database: Database,
  organizations: readonly Organization[],
): Promise<KeyedOrganization[]> {
  const known = await findOrganizationKeys(
    database,
    organizations.map(({ organizationId }) => organizationId),
  );
  const keyed: KeyedOrganization[] = [];
  for (const organization of organizations) {
    const key = known.get(organization.organizationId) ?? (await keyOf(database, organization));
    keyed.push({ ...organization, key });
  }
  return keyed;
}

/**
 * Returns the organization's key. If a node of an earlier release made the organization while this release ran beside that node, the organization has
 * no key yet, and gets one here.
 */
export async function keyOf(database: Database, organization: NamedOrganization): Promise<string> {
  const { organizationId } = organization;
  const known = (await findOrganizationKeys(database, [organizationId])).get(organizationId);
  return known ?? (await database.transaction((transaction) => claimKey(transaction, organization)));
}
