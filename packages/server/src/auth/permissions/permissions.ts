/** All permissions: first those outside of any organization, then those in an organization. */
export const permissions = [
  "organization:create",
  "account:manage",
  "invitation:accept",
  "organization:read",
  "organization:update",
  "organization:delete",
  "workflow:create",
  "workflow:read",
  "workflow:delete",
  "workflow:version:create",
  "workflow:version:read",
  "job:submit",
  "job:read",
  "job:list",
  "job:cancel",
  "job:event:send",
  "task:work",
  "task-queue:read",
  "task-queue:update",
  "metrics:read",
  "apitoken:create",
  "apitoken:read",
  "apitoken:update",
  "apitoken:revoke",
  "member:read",
  "member:update",
  "member:remove",
  "invitation:create",
  "invitation:read",
  "invitation:revoke",
  "role:create",
  "role:read",
  "role:update",
  "role:delete",
  "oauthclient:create",
  "oauthclient:list",
  "oauthclient:delete",
  "audit:read",
] as const;

export type Permission = (typeof permissions)[number];

/**
 * The permission that an operation declares. `any` stands for every caller with a credential; in an organization, for every caller who belongs to
 * it. `none` stands for everybody, even without a credential.
 */
export type DeclaredPermission = Permission | "any" | "none";

export type PermissionSet = ReadonlySet<Permission>;

/**
 * The permissions that exist only outside of any organization, so that no role grants them. A signed-in user has them, except through an OAuth
 * client of an organization. An API token never has them.
 */
const personalPermissions = ["organization:create", "account:manage", "invitation:accept"] as const;

/** The permissions of a signed-in user outside of any organization. An OAuth client of an organization has fewer there. */
export const signedInPermissions: PermissionSet = new Set<Permission>([...personalPermissions, "organization:read"]);

export type GrantablePermission = Exclude<Permission, (typeof personalPermissions)[number]>;
export const grantablePermissions = permissions.filter(
  (permission): permission is GrantablePermission =>
    !(personalPermissions as readonly Permission[]).includes(permission),
);

/** Some permissions imply a permission to read, because a pipeline that deploys and submits must be able to find what it created. */
const implied: Partial<Record<Permission, readonly Permission[]>> = {
  "workflow:create": ["workflow:read"],
  "workflow:version:create": ["workflow:version:read"],
  "job:submit": ["workflow:read"],
  "job:list": ["job:read"],
};

/** Returns the granted permissions and those that they imply, without names that this release does not know: a newer node may have granted them. */
export function withImplied(granted: readonly string[]): PermissionSet {
  const known = permissions.filter((permission) => granted.includes(permission));
  return new Set([...known, ...known.flatMap((permission) => implied[permission] ?? [])]);
}

const looking = [
  "organization:read",
  "workflow:read",
  "workflow:version:read",
  "job:read",
  "job:list",
  "task-queue:read",
  "metrics:read",
  "member:read",
  "role:read",
] as const satisfies readonly GrantablePermission[];

/** The permissions of the built-in roles. Those of an organization's own roles are in the store. */
export const builtInRoles: ReadonlyMap<string, readonly GrantablePermission[]> = new Map<
  string,
  readonly GrantablePermission[]
>([
  ["owner", grantablePermissions],
  [
    "developer",
    [
      ...looking,
      "workflow:create",
      "workflow:delete",
      "workflow:version:create",
      "job:submit",
      "job:cancel",
      "job:event:send",
      "task:work",
      "task-queue:update",
      "apitoken:create",
      "apitoken:read",
      "apitoken:update",
      "apitoken:revoke",
    ],
  ],
  ["operator", [...looking, "job:submit", "job:cancel", "job:event:send", "task-queue:update", "audit:read"]],
  ["viewer", looking],
  ["ci", ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"]],
]);

/** Returns the permissions of a member with these roles. `ownRolePermissions` are those of the organization's own roles. */
export function permissionsOfRoles(
  roles: readonly string[],
  ownRolePermissions: readonly string[] = [],
): PermissionSet {
  return withImplied([...roles.flatMap((role) => builtInRoles.get(role) ?? []), ...ownRolePermissions]);
}
