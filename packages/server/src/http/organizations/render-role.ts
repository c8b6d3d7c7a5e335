import { type Static, Type } from "typebox";
import { type BuiltInRole, describedBuiltInRoles } from "../../auth/permissions/built-in-roles.ts";
import { permissions } from "../../auth/permissions/permissions.ts";
import { toTime } from "../../core/time.ts";
import type { Role } from "../../store/access/roles.ts";
import { PermissionSchema, Time } from "../door/schemas.ts";

export const RoleSchema = Type.Object(
  {
    roleId: Type.String({
      format: "uuid",
      description: "The id of the role, which stays the same when the role is renamed.",
    }),
    name: Type.String(),
    description: Type.String(),
    permissions: Type.Array(PermissionSchema),
    isBuiltIn: Type.Boolean({
      description: "True for a role that is the same in every organization and never changes.",
    }),
    createdAt: Type.Optional(Time),
    updatedAt: Type.Optional(Time),
  },
  { title: "Role" },
);

export function renderRole(role: Omit<Role, "formerNames">): Static<typeof RoleSchema> {
  const { roleId, name, description, createdAt, updatedAt } = role;
  return {
    roleId,
    name,
    description,
    permissions: inOrder(role.permissions),
    isBuiltIn: false,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
  };
}

export const renderedBuiltInRoles: readonly Static<typeof RoleSchema>[] = describedBuiltInRoles.map(renderBuiltInRole);

export function renderBuiltInRole(role: BuiltInRole): Static<typeof RoleSchema> {
  return { ...role, permissions: inOrder(role.permissions), isBuiltIn: true };
}

function inOrder(held: readonly string[]) {
  return permissions.filter((permission) => held.includes(permission));
}
