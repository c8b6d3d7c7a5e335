import { queryOptions, useQuery } from "@tanstack/react-query";
import type { OwnPermissions, Permission } from "../document.ts";
import { api, resultOf } from "./api.ts";

/** Tells whether the user has this permission in the organization. Until that is known, the answer is false, so pages offer nothing forbidden. */
export function usePermission(organizationId: string, permission: Permission): boolean {
  const { data } = useQuery(ownPermissionsQuery(organizationId));
  return data?.permissions.includes(permission) ?? false;
}

/** False while the permissions are being read. If a page were shown meanwhile, its content would move when its buttons appear. */
export function useSettledPermissions(organizationId: string): boolean {
  return !useQuery(ownPermissionsQuery(organizationId)).isPending;
}

export function ownPermissionsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "permissions"],
    queryFn: async ({ signal }): Promise<OwnPermissions> => {
      const params = { path: { organizationId } };
      return await resultOf(api.GET("/organizations/{organizationId}/permissions/me", { params, signal }));
    },
    staleTime: 30_000,
  });
}
