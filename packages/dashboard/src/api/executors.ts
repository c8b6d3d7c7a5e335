import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type Executor = Schemas["Executor"];

/**
 * The executors of this service. The list is empty until they are loaded, or if they cannot be loaded. Pages then show types instead of titles.
 */
export function useExecutors(): readonly Executor[] {
  return useQuery(executorsQuery).data ?? none;
}

/** The list changes only with a new release of the service, and with its settings. */
export const executorsQuery = queryOptions({
  queryKey: ["executors"],
  queryFn: async ({ signal }) => (await resultOf(api.GET("/executors", { signal }))).executors,
  staleTime: 10 * 60_000,
});

/** Returns the title of an executor. For an unknown type, such as one that the user is still typing, returns the type itself. */
export function titleOf(executors: readonly Executor[], type: string): string {
  return executors.find((executor) => executor.type === type)?.title ?? type;
}

const none: readonly Executor[] = [];
