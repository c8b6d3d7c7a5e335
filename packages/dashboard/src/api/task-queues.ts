import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type TaskQueue = Schemas["TaskQueue"];
export type WholeTaskQueue = Schemas["WholeTaskQueue"];
export type TaskWorker = Schemas["TaskWorker"];
export type QueuedTask = Schemas["QueuedTask"];

export interface QueueKey {
  readonly organizationId: string;
  readonly queue: string;
}

const path = "/organizations/{organizationId}/task-queues" as const;
const refetchInterval = 3_000;

export function taskQueuesQueryKey(organizationId: string) {
  return ["organizations", organizationId, "task-queues"] as const;
}

export function taskQueuesQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: [...taskQueuesQueryKey(organizationId), "list"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
    refetchInterval,
  });
}

export function taskQueueQuery(key: QueueKey) {
  return queryOptions({
    queryKey: [...taskQueuesQueryKey(key.organizationId), key.queue, "itself"],
    queryFn: async ({ signal }) => await resultOf(api.GET(`${path}/{queue}`, { params: { path: key }, signal })),
    refetchInterval,
  });
}

/** The first page is requested again and again. If the user has loaded more pages, the list stays unchanged, since its rows would jump otherwise. */
export function queuedTasksQuery(key: QueueKey, status: QueuedTask["status"]) {
  return infiniteQueryOptions({
    queryKey: [...taskQueuesQueryKey(key.organizationId), key.queue, status],
    queryFn: async ({ signal, pageParam }) => {
      const query = { status, pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(`${path}/{queue}/tasks`, { params: { path: key, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? refetchInterval : false),
    refetchOnWindowFocus: ({ state }) => state.data?.pages.length === 1,
    // A reader who comes back begins with the first page.
    gcTime: 0,
  });
}

export async function updateTaskQueue(key: QueueKey, paused: boolean) {
  return await resultOf(api.PATCH(`${path}/{queue}`, { params: { path: key }, body: { paused } }));
}
