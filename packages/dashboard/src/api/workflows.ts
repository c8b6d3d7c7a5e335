import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, type IdempotencyHeader, type ifMatch, ifStill, resultOf, resultWithEtag } from "./api.ts";

export type Workflow = Schemas["Workflow"];
export type Version = Schemas["WorkflowVersionSummary"];
export type Tag = Schemas["WorkflowTag"];
export type NewVersion = Schemas["NewWorkflowVersion"];

export interface WorkflowKey {
  readonly organizationId: string;
  readonly workflowId: string;
}

/** The cache keeps all answers about a workflow below this key, so that after a change they are all requested again. */
export function workflowQueryKey({ organizationId, workflowId }: WorkflowKey) {
  return ["organizations", organizationId, "workflows", workflowId] as const;
}

export function workflowsQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: ["organizations", organizationId, "workflows", "list"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      const params = { path: { organizationId }, query };
      return await resultOf(api.GET("/organizations/{organizationId}/workflows", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** The ids and names of the first 200 workflows. Few organizations have more workflows. */
export function workflowNamesQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "workflows", "names"],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: { pageSize: 200 } };
      const { workflows } = await resultOf(api.GET("/organizations/{organizationId}/workflows", { params, signal }));
      return new Map(workflows.map(({ workflowId, name }) => [workflowId, name]));
    },
    staleTime: 60_000,
  });
}

export function workflowQuery(key: WorkflowKey) {
  return queryOptions({
    queryKey: [...workflowQueryKey(key), "itself"],
    queryFn: async ({ signal }) =>
      await resultOf(
        api.GET("/organizations/{organizationId}/workflows/{workflowId}", { params: { path: key }, signal }),
      ),
  });
}

export function versionsQuery(key: WorkflowKey) {
  return infiniteQueryOptions({
    queryKey: [...workflowQueryKey(key), "versions"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 50, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(
        api.GET("/organizations/{organizationId}/workflows/{workflowId}/versions", {
          params: { path: key, query },
          signal,
        }),
      );
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** A version never changes, except for the tags that point at it. */
export function versionQuery(key: WorkflowKey, versionId: string) {
  return queryOptions({
    queryKey: [...workflowQueryKey(key), "version", versionId],
    queryFn: async ({ signal }) =>
      await resultOf(
        api.GET("/organizations/{organizationId}/workflows/{workflowId}/versions/{versionId}", {
          params: { path: { ...key, versionId } },
          signal,
        }),
      ),
    staleTime: 60_000,
  });
}

/** Reads the whole list of tags, page by page, because a tag that is missing here would be taken for a new one. */
export function tagsQuery(key: WorkflowKey) {
  return queryOptions({
    queryKey: [...workflowQueryKey(key), "tags"],
    queryFn: async ({ signal }) => {
      const tags: Tag[] = [];
      let pageToken: string | undefined;
      do {
        const query = { pageSize: 200, ...(pageToken !== undefined && { pageToken }) };
        const page = await resultOf(
          api.GET("/organizations/{organizationId}/workflows/{workflowId}/tags", {
            params: { path: key, query },
            signal,
          }),
        );
        tags.push(...page.tags);
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined);
      return tags;
    },
  });
}

const tagPath = "/organizations/{organizationId}/workflows/{workflowId}/tags/{tag}" as const;

/** A change of a tag is made only if the tag is in this state. */
export type TagPrecondition = ReturnType<typeof ifMatch> | typeof ifNew;

/** The tag must not exist yet. */
export const ifNew = { "If-None-Match": "*" } as const;

/** Returns the precondition for a change of a tag that was shown at this version. */
export async function ifStillAt(key: WorkflowKey, { tag, versionId }: Tag) {
  const call = api.GET(tagPath, { params: { path: { ...key, tag } } });
  return await ifStill(call, (present) => present.versionId === versionId);
}

export async function setTag(key: WorkflowKey, tag: string, versionId: string, header: TagPrecondition) {
  const params = { path: { ...key, tag }, header };
  return await resultWithEtag(api.PUT(tagPath, { params, body: { versionId } }));
}

export async function deleteTag(key: WorkflowKey, tag: string, header: Exclude<TagPrecondition, typeof ifNew>) {
  await resultOf(api.DELETE(tagPath, { params: { path: { ...key, tag }, header } }));
}

export async function registerWorkflow(organizationId: string, name: string, header: IdempotencyHeader) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/workflows", {
      params: { path: { organizationId }, header },
      body: { name },
    }),
  );
}

export async function registerVersion(key: WorkflowKey, definition: string, header: IdempotencyHeader) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/workflows/{workflowId}/versions", {
      params: { path: key, header },
      body: { definition },
    }),
  );
}
