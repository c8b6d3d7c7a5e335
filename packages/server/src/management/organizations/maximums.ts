import { type Config, type MaximumName, maximumSettings, settings } from "../../config.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import { countOpenInvitations } from "../../store/access/invitations.ts";
import { findOrganizationLimits } from "../../store/access/organization-limits.ts";
import { countRoles } from "../../store/access/roles.ts";
import { countApiTokens } from "../../store/access/tokens.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import type { Act, ManagementParts, Room } from "../act/act.ts";

/**
 * Throws 409 when the organization has as many of these things as it may have. The caller makes one in the same transaction, and holds the lock under
 * which such things are made (`lockGrants`): so of two requests for the last place one gets it. Counting under a lock needs no counter that could go wrong.
 */
export async function requireRoom(
  transaction: Transaction,
  { config, engine }: Pick<ManagementParts, "config" | "engine">,
  act: Act,
  place: Place,
  name: MaximumName,
): Promise<void> {
  const { maximum, isOwn } = await readMaximum(transaction, config, place.organizationId, name);
  const usedCount = await counted[name].count(transaction, place, engine.now());
  if (usedCount >= maximum) throw noRoom(name, maximum);
  act.onCounted?.({ name, maximum, isOwn, usedCount: usedCount + 1 });
}

/** The organization in which things are counted, and the workflow where each has its own. */
export interface Place {
  readonly organizationId: string;
  readonly workflowId?: string;
}

interface Counted {
  /** The things, as a message names them. */
  readonly things: string;
  /** A sentence that says how somebody of the organization makes room. */
  readonly remedy: string;
  readonly count: (db: Queryable, place: Place, now: Timestamp) => Promise<number>;
}

const counted: Readonly<Record<MaximumName, Counted>> = {
  apiTokens: {
    things: "API tokens",
    remedy: "Revoke tokens that are not needed any more.",
    count: (db, { organizationId }) => countApiTokens(db, organizationId),
  },
  openInvitations: {
    things: "open invitations",
    remedy: "Revoke some, or wait until they expire.",
    count: (db, { organizationId }, now) => countOpenInvitations(db, organizationId, now),
  },
  roles: {
    things: "roles of its own",
    remedy: "Delete one first.",
    count: (db, { organizationId }) => countRoles(db, organizationId),
  },
};

/** Answers the maximum that the operator set for the organization, or else the configuration's. */
export async function readMaximum(
  db: Queryable,
  config: Config,
  organizationId: string,
  name: MaximumName,
): Promise<Pick<Room, "maximum" | "isOwn">> {
  const own = (await findOrganizationLimits(db, organizationId))?.maximums[name];
  return { maximum: own ?? config[maximumSettings[name]], isOwn: own !== undefined };
}

function noRoom(name: MaximumName, maximum: number): ServiceError {
  const { things, remedy } = counted[name];
  return new ServiceError(
    "ConflictError",
    `An organization has at most ${maximum} ${things} here. ${remedy} The operator of the service can raise the maximum: \`stepwell organization limits ID --max ${name}=NUMBER\` for this organization, or ${settings[maximumSettings[name]].variable} for all.`,
  );
}
