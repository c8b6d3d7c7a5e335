import { queryOptions } from "@tanstack/react-query";
import { api, resultOf } from "./api.ts";

/** The first of them, which is everybody where there are not hundreds: names for what people did. */
export function memberNamesQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "members", "names"],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: { pageSize: 200 } };
      const { members } = await resultOf(api.GET("/organizations/{organizationId}/members", { params, signal }));
      return new Map(members.map(({ userId, displayName }) => [userId, displayName]));
    },
    staleTime: 60_000,
  });
}
