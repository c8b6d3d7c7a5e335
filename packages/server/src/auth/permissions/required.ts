import { ServiceError } from "../../core/service-error.ts";
import { type Permission, type PermissionSet, permissions } from "./permissions.ts";

/** Throws a 403 that names the missing permission. */
export function requirePermission(granted: PermissionSet, permission: Permission): void {
  if (granted.has(permission)) return;
  const detail = `You do not have the permission ${permission} for this. Ask an owner of the organization for it, or use another token.`;
  throw new ServiceError("AuthorizationError", detail);
}

/** Callers cannot grant, change or take away permissions that they lack. Throws a 403 that names the first missing one. */
export function requireAll(held: PermissionSet, concerned: Iterable<string>): void {
  const names = new Set(concerned);
  for (const permission of permissions) if (names.has(permission)) requirePermission(held, permission);
}
