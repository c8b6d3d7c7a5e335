/** Everything that somebody can be allowed to do in an organization, and `organization:create`, which stands outside of any. */
export const permissions = [
  "organization:create",
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
  "metrics:read",
  "apitoken:create",
  "apitoken:read",
  "apitoken:update",
  "apitoken:revoke",
] as const;

export type Permission = (typeof permissions)[number];
export type PermissionSet = ReadonlySet<Permission>;

/** Creating organizations belongs to people: a token lives in one organization and can have nothing to do with another. */
export type GrantablePermission = Exclude<Permission, "organization:create">;
export const grantablePermissions = permissions.filter(
  (permission): permission is GrantablePermission => permission !== "organization:create",
);

/** Who may create may look: a pipeline that deploys and submits must be able to find what it made. */
const implied: Partial<Record<Permission, readonly Permission[]>> = {
  "workflow:create": ["workflow:read"],
  "workflow:version:create": ["workflow:version:read"],
  "job:submit": ["workflow:read"],
  "job:list": ["job:read"],
};

/** Names that this version does not know are left out: a newer node may have granted them. */
export function withImplied(granted: readonly string[]): PermissionSet {
  const known = permissions.filter((permission) => granted.includes(permission));
  return new Set([...known, ...known.flatMap((permission) => implied[permission] ?? [])]);
}

/** What the built-in roles hold. Roles that an organization makes itself come from its own table. */
const builtInRoles: Readonly<Record<string, readonly Permission[]>> = {
  owner: grantablePermissions,
};

export function permissionsOfRoles(roles: readonly string[]): PermissionSet {
  return withImplied(roles.flatMap((role) => (Object.hasOwn(builtInRoles, role) ? (builtInRoles[role] ?? []) : [])));
}
