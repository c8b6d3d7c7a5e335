import type { operations } from "@stepwell/client";
import { queryOptions } from "@tanstack/react-query";
import { api, resultOf, type Schemas } from "./api.ts";

export type ListedJob = Schemas["ListedJob"];
/** The filters of a list, by the names that the API gives them. */
export type JobFilters = Omit<NonNullable<operations["ListJobs"]["parameters"]["query"]>, "pageToken">;

/** The first page of a list of jobs, asked for again and again while somebody looks. */
export function jobsQuery(organizationId: string, filters: JobFilters, refetchInterval = 3_000) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "jobs", filters],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: filters };
      return await resultOf(api.GET("/organizations/{organizationId}/jobs", { params, signal }));
    },
    refetchInterval,
  });
}
