import type { Permission, PermissionSet } from "./permissions.ts";

/**
 * Returns what a member may do through a client of the organization: everything that they may do themselves, except managing credentials, members,
 * and what members may do. A page of somebody else must not keep access when the member's sign-in there is over.
 */
export function withoutWithheld(held: PermissionSet | undefined): PermissionSet | undefined {
  if (held === undefined) return undefined;
  const known = reduced.get(held);
  if (known !== undefined) return known;
  const left = new Set([...held].filter((permission) => !isWithheld(permission)));
  reduced.set(held, left);
  return left;
}

/** A client may only list organizations outside of any organization; the list then has its own organization alone. */
export const outsideClientPermissions: PermissionSet = new Set<Permission>(["organization:read"]);

/**
 * These are withheld because deleting the organization would end all credentials and memberships at once, and changing it decides what its members
 * sign in with.
 */
const withheldPermissions: ReadonlySet<Permission> = new Set([
  "organization:create",
  "organization:update",
  "organization:delete",
]);
/** Permissions are withheld by the thing that they are about, so that one that is added later is withheld too. */
const withheldThings: ReadonlySet<string> = new Set([
  "account",
  "apitoken",
  "invitation",
  "member",
  "oauthclient",
  "role",
]);

function isWithheld(permission: Permission): boolean {
  return withheldPermissions.has(permission) || withheldThings.has(permission.split(":")[0] ?? "");
}

/** The reduced sets are remembered, since many requests read the same set. */
const reduced = new WeakMap<PermissionSet, PermissionSet>();
