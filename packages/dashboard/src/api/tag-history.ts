import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";
import { type WorkflowKey, workflowQueryKey } from "./workflows.ts";

export type TagChange = Schemas["WorkflowTagChange"];

/** The newest change first. */
export function tagHistoryQuery(workflow: WorkflowKey, tag: string) {
  return infiniteQueryOptions({
    queryKey: [...workflowQueryKey(workflow), "tags", tag, "history"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 50, ...(pageParam !== undefined && { pageToken: pageParam }) };
      const params = { path: { ...workflow, tag }, query };
      const path = "/organizations/{organizationId}/workflows/{workflowId}/tags/{tag}/history";
      return await resultOf(api.GET(path, { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}
