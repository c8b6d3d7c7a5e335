import { queryOptions } from "@tanstack/react-query";
import { api, resultOf } from "./api.ts";

const path = "/organizations/{organizationId}" as const;

/** The first 200 organizations of which the caller is a member. The pages of the caller's other organizations can be reached by their address. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => {
    const query = { pageSize: 200 };
    return (await resultOf(api.GET("/organizations", { params: { query }, signal }))).organizations;
  },
  staleTime: 60_000,
});

export function organizationQueryKey(organizationId: string) {
  return ["organizations", organizationId, "itself"] as const;
}

export function organizationQuery(organizationId: string) {
  return queryOptions({
    queryKey: organizationQueryKey(organizationId),
    queryFn: async ({ signal }) => await resultOf(api.GET(path, { params: { path: { organizationId } }, signal })),
  });
}

export async function updateOrganization(organizationId: string, body: { readonly requiresSecondFactor: boolean }) {
  return await resultOf(api.PATCH(path, { params: { path: { organizationId } }, body }));
}
