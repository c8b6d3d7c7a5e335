import type { Permission, PermissionSet } from "./permissions.ts";

/**
 * Returns what a member may do through an OAuth client of the organization: everything that the member may do, except what concerns credentials,
 * members, roles or accounts, and except creating, changing or deleting an organization. The client is a page that belongs to somebody else. With
 * the permissions that are left out, the page could get itself access that lasts after the member's sign-in there has ended.
 */
export function withoutWithheld(held: PermissionSet | undefined): PermissionSet | undefined {
  if (held === undefined) return undefined;
  const known = reduced.get(held);
  if (known !== undefined) return known;
  const left = new Set([...held].filter((permission) => !isWithheld(permission)));
  reduced.set(held, left);
  return left;
}

/** Outside of any organization, a client may only list organizations. The list then contains only the client's own organization. */
export const outsideClientPermissions: PermissionSet = new Set<Permission>(["organization:read"]);

/**
 * These permissions are withheld because creating an organization makes the member its owner, changing it decides whether its members need a second
 * factor, and deleting it ends all its credentials and memberships at once.
 */
const withheldPermissions: ReadonlySet<Permission> = new Set([
  "organization:create",
  "organization:update",
  "organization:delete",
]);
/** All permissions for these things are withheld, so that a permission that is added later is withheld too. */
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
