import { queryOptions } from "@tanstack/react-query";
import { api, resultOf } from "./api.ts";

/** Those in which the caller is a member. Whoever is in more than this many switches by address. */
export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: async ({ signal }) => {
    const query = { pageSize: 200 };
    return (await resultOf(api.GET("/organizations", { params: { query }, signal }))).organizations;
  },
  staleTime: 60_000,
});
