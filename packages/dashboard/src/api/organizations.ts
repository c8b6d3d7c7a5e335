import { queryOptions } from "@tanstack/react-query";
import { type Answer, api, resultOf } from "./api.ts";

export type Organization = Answer<"GetOrganization">;

/** Those in which the caller is a member. Whoever is in more than this many switches by address. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => {
    const query = { pageSize: 200 };
    return (await resultOf(api.GET("/organizations", { params: { query }, signal }))).organizations;
  },
  staleTime: 60_000,
});

export function permissionsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "permissions"],
    queryFn: async ({ signal }) => {
      const path = { organizationId };
      const call = api.GET("/organizations/{organizationId}/permissions/me", { params: { path }, signal });
      return await resultOf(call);
    },
    staleTime: 30_000,
  });
}
