import { type CountedName, type MaximumName, maximumOf, maximumSettings, settings } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { countOpenInvitations } from "../../store/access/invitations.ts";
import { countMembers } from "../../store/access/members.ts";
import { countOAuthClients } from "../../store/access/oauth-clients.ts";
import { findOrganizationLimits } from "../../store/access/organization-limits.ts";
import { countRoles } from "../../store/access/roles.ts";
import { countApiTokens } from "../../store/access/tokens.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { countTags } from "../../store/workflows/tags.ts";
import { countVersions } from "../../store/workflows/versions.ts";
import { countWorkflows } from "../../store/workflows/workflows.ts";
import type { Act, ManagementParts, UsedMaximum } from "../act/act.ts";

/**
 * Throws 409 when the organization already has its maximum of these things. The calling function makes the new thing in the same transaction, and
 * holds the lock under which such things are made (`lockGrants`, `lockWorkflow`). So if two requests ask for the last place, exactly one gets it, and
 * there is no separate counter that could be wrong. Give `count` if the usual count would already include the new thing, because its row exists or
 * because the invitation of the new member is still open.
 */
export async function requireRoom(
  transaction: Transaction,
  parts: Pick<ManagementParts, "config" | "engine">,
  act: Act,
  place: Place,
  name: CountedName,
  count = counted[name].count,
): Promise<void> {
  const used = await readUsedMaximum(transaction, parts, place, name, count);
  if (used.usedCount >= used.maximum) throw noRoom(name, used.maximum);
  act.onCounted?.({ ...used, usedCount: used.usedCount + 1 });
}

/** Tells whether the organization may have one more of these things. The calling function holds the lock, as for `requireRoom`. */
export async function hasRoom(
  db: Queryable,
  parts: Pick<ManagementParts, "config" | "engine">,
  place: Place,
  name: CountedName,
): Promise<boolean> {
  const { maximum, usedCount } = await readUsedMaximum(db, parts, place, name);
  return usedCount < maximum;
}

async function readUsedMaximum(
  db: Queryable,
  { config, engine }: Pick<ManagementParts, "config" | "engine">,
  place: Place,
  name: CountedName,
  count = counted[name].count,
): Promise<UsedMaximum> {
  const { maximums = {} } = (await findOrganizationLimits(db, place.organizationId)) ?? {};
  return { ...maximumOf(config, maximums, name), usedCount: await count(db, place, engine.now()) };
}

/**
 * Reads all maximums of things that are counted in the store. For a maximum per workflow, reads the use of the workflow with the most things.
 */
export async function readUsedMaximums(
  db: Queryable,
  { config, engine }: Pick<ManagementParts, "config" | "engine">,
  organizationId: string,
): Promise<UsedMaximum<MaximumName>[]> {
  const { maximums = {} } = (await findOrganizationLimits(db, organizationId)) ?? {};
  const usedMaximums: UsedMaximum<MaximumName>[] = [];
  for (const name of Object.keys(counted) as CountedName[]) {
    const usedCount = await counted[name].count(db, { organizationId }, engine.now());
    usedMaximums.push({ ...maximumOf(config, maximums, name), usedCount });
  }
  return usedMaximums;
}

/** The organization in which things are counted, and for a maximum per workflow also the workflow. */
export interface Place {
  readonly organizationId: string;
  readonly workflowId?: string;
}

interface Counted {
  /** The owner as a message names it. The default is "An organization". */
  readonly owner?: string;
  /** The things as a message names them. */
  readonly things: string;
  /** A sentence that tells members of the organization how to make room. */
  readonly remedy: string;
  readonly count: (db: Queryable, place: Place, now: Timestamp) => Promise<number>;
}

const counted: Readonly<Record<CountedName, Counted>> = {
  apiTokens: {
    things: "API tokens",
    remedy: "Revoke tokens that are not needed any more.",
    count: (db, { organizationId }) => countApiTokens(db, organizationId),
  },
  oauthClients: {
    things: "OAuth clients",
    remedy: "Delete clients that are not needed any more.",
    count: (db, { organizationId }) => countOAuthClients(db, organizationId),
  },
  members: {
    things: "members and open invitations",
    remedy: "Remove a member, or revoke an invitation.",
    count: async (db, { organizationId }, now) =>
      (await countMembers(db, organizationId)) + (await countOpenInvitations(db, organizationId, now)),
  },
  openInvitations: {
    things: "open invitations",
    remedy: "Revoke some invitations, or wait until they expire.",
    count: (db, { organizationId }, now) => countOpenInvitations(db, organizationId, now),
  },
  roles: {
    things: "roles of its own",
    remedy: "Delete a role first.",
    count: (db, { organizationId }) => countRoles(db, organizationId),
  },
  workflows: {
    things: "workflows",
    remedy: "Delete workflows that are not needed any more.",
    count: (db, { organizationId }) => countWorkflows(db, organizationId),
  },
  versionsPerWorkflow: {
    owner: "A workflow",
    things: "versions",
    remedy: "Register a new workflow for this definition, or deploy only definitions that changed.",
    count: (db, { organizationId, workflowId }) => countVersions(db, organizationId, workflowId),
  },
  tagsPerWorkflow: {
    owner: "A workflow",
    things: "tags",
    remedy: "Delete tags that are not needed any more.",
    count: (db, { organizationId, workflowId }) => countTags(db, organizationId, workflowId),
  },
};

function noRoom(name: CountedName, maximum: number): ServiceError {
  const { owner = "An organization", things, remedy } = counted[name];
  return new ServiceError(
    "ConflictError",
    `${owner} has at most ${maximum} ${things} here. ${remedy} The operator of the service can raise the maximum: \`stepwell org limits ID --max ${name}=NUMBER\` for this organization, or ${settings[maximumSettings[name]].variable} for all.`,
  );
}
