import type { Permission, PermissionSet } from "./permissions.ts";

/**
 * Answers what a member may do through a client of the organization: all that they may do themselves, except manage credentials, members and what these may
 * do. A page that somebody else wrote must not be able to stay when the member's sign-in there is over.
 */
export function withoutWithheld(held: PermissionSet | undefined): PermissionSet | undefined {
  if (held === undefined) return undefined;
  const known = reduced.get(held);
  if (known !== undefined) return known;
  const left = new Set([...held].filter((permission) => !isWithheld(permission)));
  reduced.set(held, left);
  return left;
}

/** Outside of any organization there is only the list of organizations, with that one of the client. */
export const outsideClientPermissions: PermissionSet = new Set<Permission>(["organization:read"]);

/** Deleting the organization would end all credentials and memberships at once; changing it decides what its members have to sign in with. */
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

/** Sets are remembered for a moment and read by many requests. */
const reduced = new WeakMap<PermissionSet, PermissionSet>();
