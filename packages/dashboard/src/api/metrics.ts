import type { operations } from "@stepwell/client";
import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type MetricRequest = operations["GetMetrics"]["parameters"]["query"];
export type Metric = Answer<"GetMetrics">;
export type MetricPoint = Metric["points"][number];

export function metricQuery(organizationId: string, query: MetricRequest, refetchInterval = 30_000) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "metrics", query],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query };
      return await resultOf(api.GET("/organizations/{organizationId}/metrics", { params, signal }));
    },
    refetchInterval,
  });
}
