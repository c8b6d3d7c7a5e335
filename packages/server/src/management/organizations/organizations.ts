import { requireOwnSecondFactor } from "../../auth/permissions/second-factor-demand.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { insertMember } from "../../store/access/members.ts";
import { deleteOAuthOrigins } from "../../store/access/oauth-clients.ts";
import { deleteOrganizationKey, setOrganizationCreator } from "../../store/access/organization-keys.ts";
import {
  claimOrganization,
  deleteOrganization as deleteOrganizationRow,
  findOrganization,
  hasUnfinishedJobs,
  insertOrganization,
  type Organization,
  updateOrganization as updateOrganizationRow,
} from "../../store/access/organizations.ts";
import type { Transaction } from "../../store/home/database.ts";
import { endClientSessions } from "../../store/people/user-sessions.ts";
import type { Act, CallerAct, Clock, ManagementParts, RevokingParts } from "../act/act.ts";
import { changesOf, recordAudit } from "../act/audit-trail.ts";
import { lockGrantsFor } from "../act/grants.ts";
import { etagOf, requireUnchanged } from "../act/precondition.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireOrganizationRoom } from "../maximums/organization-maximum.ts";
import { claimKey, type KeyedOrganization } from "./organization-key.ts";

export interface OrganizationNames {
  readonly name: string;
  readonly displayName: string;
}

/**
 * Makes an organization whose owner is the caller. `key` is the requested key, if any. Throws 409 when another organization has the key, or the
 * caller has created as many organizations as allowed. Throws 403 when the caller may not create any. `answerOf` makes the answer, which a repetition
 * gets too.
 */
export async function createOrganization<Answer extends object>(
  parts: ManagementParts,
  act: CallerAct,
  asked: OrganizationNames & { readonly key?: string },
  answerOf: (organization: KeyedOrganization) => Answer,
): Promise<Answer> {
  const ownerId = act.actor.id;
  return await transactOnce(parts, act, { userId: ownerId }, async (transaction, createdAt) => {
    await requireOrganizationRoom(transaction, parts, act);
    const organizationId = parts.engine.newId();
    const wanted = { ...asked, organizationId, ownerId, createdAt };
    const created = await insertOwnedOrganization(transaction, parts.engine, act, wanted);
    await setOrganizationCreator(transaction, organizationId, ownerId);
    return answerOf(created);
  });
}

export interface OwnedOrganization extends OrganizationNames {
  readonly organizationId: string;
  /** The requested key. If it is left out, a key is made from the name. */
  readonly key?: string;
  /** The user who becomes the owner. It is required, because an organization without an owner might never get one. */
  readonly ownerId: string;
  readonly createdAt: Timestamp;
}

/** Writes an organization with its key, its owner and its first audit entry. Throws 409 when another organization has the key. */
export async function insertOwnedOrganization(
  transaction: Transaction,
  clock: Clock,
  act: Act,
  { key: askedFor, ownerId, ...organization }: OwnedOrganization,
): Promise<KeyedOrganization> {
  const { organizationId, name, displayName, createdAt } = organization;
  await insertOrganization(transaction, organization);
  const key = await claimKey(transaction, organization, askedFor);
  await insertMember(transaction, { organizationId, userId: ownerId, roles: ["owner"], createdAt });
  const owner = ownerId === act.actor.id ? {} : { owner: ownerId };
  const note = { organizationId, targetType: "organization", targetId: organizationId } as const;
  await recordAudit(transaction, clock, act, { ...note, details: { name, displayName, key, ...owner } });
  return { ...organization, key, requiresSecondFactor: false };
}

/** A field that is left out is not changed. */
export interface OrganizationChange extends Partial<OrganizationNames> {
  readonly requiresSecondFactor?: boolean;
}

/**
 * Renames an organization, or changes whether it requires a second factor of its members. Throws 404 when there is no such organization, and 412 when
 * it is not as the caller read it. When the caller would turn the demand for a second factor on, throws 403 for an API token, and 409 for a person
 * who has no second factor and did not sign in at an external issuer.
 */
export async function updateOrganization(
  { database, engine, authenticator }: RevokingParts,
  act: CallerAct,
  organizationId: string,
  change: OrganizationChange,
): Promise<KeyedOrganization> {
  const updated = await database.transaction(async (transaction) => {
    await lockGrantsFor(transaction, engine, act, organizationId);
    const organization = await findOrganization(transaction, organizationId);
    if (organization === undefined) throw notFound("organization");
    requireUnchanged(act, "organization", etagOfOrganization(organization));
    const changed = { ...organization, ...change };
    if (changed.requiresSecondFactor && !organization.requiresSecondFactor) {
      await requireOwnSecondFactor(transaction, act.caller);
    }
    await updateOrganizationRow(transaction, changed, engine.now());
    // The key is claimed under the organization's lock. Otherwise an organization that is being deleted could get a key that nobody would ever free.
    const key = await claimKey(transaction, changed);
    const note = { organizationId, targetType: "organization", targetId: organizationId } as const;
    await recordAudit(transaction, engine, act, { ...note, details: changesOf(organization, change) });
    return { ...changed, key };
  });
  if (change.requiresSecondFactor !== undefined) authenticator.forgetOrganization(organizationId);
  return updated;
}

/** Deletes an organization. Throws 404 when there is no such organization, and 409 while it has jobs that are not finished. */
export async function deleteOrganization(
  { database, engine, authenticator }: RevokingParts,
  act: CallerAct,
  organizationId: string,
): Promise<void> {
  await database.transaction(async (transaction) => {
    if (!(await claimOrganization(transaction, organizationId))) throw notFound("organization");
    await lockGrantsFor(transaction, engine, act, organizationId);
    const organization = await findOrganization(transaction, organizationId);
    if (organization !== undefined) requireUnchanged(act, "organization", etagOfOrganization(organization));
    if (await hasUnfinishedJobs(transaction, organizationId)) throw unfinishedJobs();
    await deleteOrganizationRow(transaction, organizationId, engine.now());
    await deleteOrganizationKey(transaction, organizationId);
    await deleteOAuthOrigins(transaction, organizationId);
    await endClientSessions(transaction, { organizationId }, engine.now());
    const note = { organizationId, targetType: "organization", targetId: organizationId } as const;
    await recordAudit(transaction, engine, act, note);
  });
  authenticator.forgetOrganization(organizationId);
}

/** Makes the entity tag of an organization from all fields that can be changed. */
export function etagOfOrganization({
  organizationId,
  name,
  displayName,
  requiresSecondFactor,
}: Omit<Organization, "createdAt">): string {
  return etagOf({ organizationId, name, displayName, requiresSecondFactor });
}

function unfinishedJobs(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "The organization has jobs that are not finished. Cancel them or let them finish, then delete it.",
  );
}
