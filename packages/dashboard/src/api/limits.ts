import { queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type RateLimit = Schemas["RateLimit"];

/** The rate limits of this minute, read again and again while they are shown. */
export function rateLimitsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "rate-limits"],
    queryFn: async ({ signal }) =>
      await resultOf(
        api.GET("/organizations/{organizationId}/rate-limits", { params: { path: { organizationId } }, signal }),
      ),
    refetchInterval: 5_000,
  });
}

export type Limit = Schemas["Limit"];

export function limitsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "limits"],
    queryFn: async ({ signal }) =>
      await resultOf(
        api.GET("/organizations/{organizationId}/limits", { params: { path: { organizationId } }, signal }),
      ),
  });
}

export const accountLimitsQuery = queryOptions({
  queryKey: ["account", "limits"],
  queryFn: async ({ signal }) => await resultOf(api.GET("/account/limits", { signal })),
});
