import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { findMemberships } from "../../store/access/members.ts";
import { findApiToken } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import { type PermissionSet, permissionsOfRoles, withImplied } from "./permissions.ts";
import { boundsOf } from "./token-bounds.ts";

/**
 * Returns the permissions that the actor can now give to others in the organization, as the store says: those that the actor has, and none for a
 * narrow token. Returns undefined when the actor has no access to the organization (any more): a user who is disabled or not a member,
 * or a token that is expired, revoked or of another organization.
 */
export async function permissionsOfActor(
  db: Queryable,
  organizationId: string,
  { type, id }: Actor,
  now: Timestamp,
): Promise<PermissionSet | undefined> {
  if (type === "user") {
    const membership = (await findMemberships(db, id, [organizationId])).get(organizationId);
    if (membership === undefined || (await findCredentials(db, id))?.disabledAt !== null) return undefined;
    return permissionsOfRoles(membership.roles, membership.ownRolePermissions);
  }
  const token = await findApiToken(db, organizationId, id);
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= now)) return undefined;
  // A narrow token cannot give or take permissions, whatever it may do itself.
  return boundsOf(token) === undefined ? withImplied(token.permissions) : new Set();
}
