import { settings } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";
import { countOrganizationsCreatedBy } from "../../store/access/organization-keys.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { findOrganizationMaximum, holdOrganizationMaximum } from "../../store/people/users.ts";
import type { CallerAct, ManagementParts, UsedMaximum } from "../act/act.ts";

/**
 * Throws 403 when the actor may not create any organization, and 409 when the actor has created as many as allowed. An organization counts for its
 * creator and not for its owner. So nobody makes room by handing an organization on, and nobody loses room by becoming an owner.
 */
export async function requireOrganizationRoom(
  transaction: Transaction,
  { config }: Pick<ManagementParts, "config">,
  act: CallerAct,
): Promise<void> {
  const own = await holdOrganizationMaximum(transaction, act.actor.id);
  const maximum = own ?? config.maxOrganizationsPerAccount;
  if (maximum === 0) throw mayNotCreate();
  const usedCount = await countOrganizationsCreatedBy(transaction, act.actor.id);
  if (usedCount >= maximum) throw tooMany(maximum);
  act.onCounted?.({ name: "organizations", maximum, isOwn: own !== null, usedCount: usedCount + 1 });
}

/** Reads how many organizations the user may create, and how many they have created. */
export async function readOrganizationUse(
  db: Queryable,
  { config }: Pick<ManagementParts, "config">,
  userId: string,
): Promise<UsedMaximum<"organizations">> {
  const own = await findOrganizationMaximum(db, userId);
  const usedCount = await countOrganizationsCreatedBy(db, userId);
  return { name: "organizations", maximum: own ?? config.maxOrganizationsPerAccount, isOwn: own !== null, usedCount };
}

const { variable } = settings.maxOrganizationsPerAccount;

function mayNotCreate(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    `You may not create organizations here. The operator of the service can allow it, with \`stepwell user organizations EMAIL --max NUMBER\` for an account or ${variable} for all.`,
  );
}

function tooMany(maximum: number): ServiceError {
  return new ServiceError(
    "ConflictError",
    `An account may create at most ${maximum} organizations here. Delete an organization that you created. The operator of the service can raise the maximum: \`stepwell user organizations EMAIL --max NUMBER\` for this account, or ${variable} for all.`,
  );
}
