import { type Static, Type } from "typebox";
import { builtInRoles, permissions } from "../../auth/permissions/permissions.ts";
import { toTime } from "../../core/time.ts";
import type { Role } from "../../store/access/roles.ts";
import { PermissionSchema, Time } from "../door/schemas.ts";

export const RoleSchema = Type.Object(
  {
    roleId: Type.String({ format: "uuid", description: "Stays when the role is renamed." }),
    name: Type.String(),
    description: Type.String(),
    permissions: Type.Array(PermissionSchema),
    isBuiltIn: Type.Boolean({ description: "The same in every organization, and never changed." }),
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

/** The number of a built-in role ends its id, which is the same in every organization and for ever. */
const builtInFacts: Readonly<Record<string, { readonly number: number; readonly description: string }>> = {
  owner: { number: 1, description: "May do everything." },
  developer: { number: 2, description: "Builds workflows, runs jobs, and makes tokens for programs." },
  operator: { number: 3, description: "Runs and watches jobs, and reads the audit log." },
  viewer: { number: 4, description: "Looks at everything but the audit log and tokens, and changes nothing." },
  ci: { number: 5, description: "Deploys workflow versions and submits jobs." },
};

export const renderedBuiltInRoles: readonly Static<typeof RoleSchema>[] = [...builtInRoles].map(([name, held]) => {
  const facts = builtInFacts[name];
  if (facts === undefined) throw new Error(`The built-in role ${name} has no id.`);
  const { number, description } = facts;
  const roleId = `00000000-0000-8000-8000-${String(number).padStart(12, "0")}`;
  return { roleId, name, description, permissions: inOrder(held), isBuiltIn: true };
});

/** The built-in role that goes by this name or this id. */
export function findBuiltInRole(nameOrId: string) {
  return renderedBuiltInRoles.find(({ name, roleId }) => name === nameOrId || roleId === nameOrId);
}

function inOrder(held: readonly string[]) {
  return permissions.filter((permission) => held.includes(permission));
}
