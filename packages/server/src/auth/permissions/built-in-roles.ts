import { builtInRoles, type GrantablePermission } from "./permissions.ts";

export interface BuiltInRole {
  readonly roleId: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly GrantablePermission[];
}

export function findBuiltInRole(nameOrId: string): BuiltInRole | undefined {
  return describedBuiltInRoles.find(({ name, roleId }) => name === nameOrId || roleId === nameOrId);
}

/** The id of a built-in role ends with its number, which is the same in every organization and never changes. */
const builtInFacts: Readonly<Record<string, { readonly number: number; readonly description: string }>> = {
  owner: { number: 1, description: "May do everything." },
  developer: { number: 2, description: "Builds workflows, runs jobs, and makes tokens for programs." },
  operator: { number: 3, description: "Runs and watches jobs, and reads the audit trail." },
  viewer: {
    number: 4,
    description: "Looks at workflows, jobs, task queues, metrics, members and roles, and changes nothing.",
  },
  ci: { number: 5, description: "Deploys workflow versions and submits jobs." },
};

export const describedBuiltInRoles: readonly BuiltInRole[] = [...builtInRoles].map(([name, permissions]) => {
  const facts = builtInFacts[name];
  if (facts === undefined) throw new Error(`The built-in role ${name} has no id.`);
  const { number, description } = facts;
  const roleId = `00000000-0000-8000-8000-${String(number).padStart(12, "0")}`;
  return { roleId, name, description, permissions };
});
