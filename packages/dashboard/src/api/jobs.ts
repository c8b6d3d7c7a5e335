import type { operations } from "@stepwell/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type ListedJob = Schemas["ListedJob"];
/** The filters of a list, by the names that the API gives them. */
export type JobFilters = Omit<NonNullable<operations["ListJobs"]["parameters"]["query"]>, "pageToken">;

/** The first page of a list of jobs, requested again and again while the list is shown. */
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

/**
 * All pages as they were when they were loaded. They are not read again, because the rows would jump. `place` is the place of the list in the
 * browser's history: a reader who steps back finds the list unchanged, and a reader who follows a link to the list begins with its first page.
 */
export function jobPagesQuery(organizationId: string, filters: JobFilters, place = "") {
  return infiniteQueryOptions({
    queryKey: ["organizations", organizationId, "jobs", "pages", filters, place],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filters, ...(pageParam !== undefined && { pageToken: pageParam }) };
      const params = { path: { organizationId }, query };
      return await resultOf(api.GET("/organizations/{organizationId}/jobs", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10 * 60_000,
  });
}

/** The number of jobs, up to the largest number that the service counts. Counting takes the service a moment, so the page requests it rarely. */
export function jobCountQuery(organizationId: string, filters: JobFilters) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "jobs", "count", filters],
    queryFn: async ({ signal }) => {
      const query = { ...filters, pageSize: 1, includeTotal: true };
      const params = { path: { organizationId }, query };
      const answer = await resultOf(api.GET("/organizations/{organizationId}/jobs", { params, signal }));
      return { count: answer.totalCount ?? 0, isMinimum: answer.totalCountIsMinimum === true };
    },
    staleTime: 15_000,
    refetchInterval: 30_000,
  });
}
