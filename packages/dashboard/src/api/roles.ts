import { queryOptions } from "@tanstack/react-query";
import type { GrantablePermission, Schemas } from "../document.ts";
import { api, type IdempotencyHeader, ifStill, resultOf } from "./api.ts";

export type Role = Schemas["Role"];

const path = "/organizations/{organizationId}/roles" as const;
const rolePath = "/organizations/{organizationId}/roles/{role}" as const;

export function rolesQueryKey(organizationId: string) {
  return ["organizations", organizationId, "roles"] as const;
}

/** Reads the whole list of roles, since most organizations have only a few dozen. */
export function rolesQuery(organizationId: string) {
  return queryOptions({
    queryKey: rolesQueryKey(organizationId),
    queryFn: async ({ signal }) => {
      const roles: Role[] = [];
      let pageToken: string | undefined;
      do {
        const query = { pageSize: 200, ...(pageToken !== undefined && { pageToken }) };
        const page = await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
        roles.push(...page.roles);
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined);
      return roles;
    },
  });
}

interface RoleWish {
  readonly name: string;
  readonly description: string;
  readonly permissions: GrantablePermission[];
}

export async function createRole(organizationId: string, header: IdempotencyHeader, body: RoleWish) {
  return await resultOf(api.POST(path, { params: { path: { organizationId }, header }, body }));
}

/** Changes the role if it is still as it was shown. The path has the role's id instead of its name, because the id never changes. */
export async function updateRole(organizationId: string, shown: Role, body: RoleWish) {
  const path = { organizationId, role: shown.roleId };
  const isAsShown = (present: Role) => meaningOf(present) === meaningOf(shown);
  const header = await ifStill(api.GET(rolePath, { params: { path } }), isAsShown);
  return await resultOf(api.PATCH(rolePath, { params: { path, header }, body }));
}

function meaningOf({ name, description, permissions }: Role): string {
  return JSON.stringify([name, description, [...permissions].sort()]);
}

export async function deleteRole(organizationId: string, role: string) {
  await resultOf(api.DELETE(rolePath, { params: { path: { organizationId, role } } }));
}
