import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type Executor = Schemas["Executor"];

/** The executors of this service. Until they are known, and where they cannot be had, there are none: nothing that is shown depends on them. */
export function useExecutors(): readonly Executor[] {
  return useQuery(executorsQuery).data ?? none;
}

/** It changes with a new release of the service, and with its settings. */
export const executorsQuery = queryOptions({
  queryKey: ["executors"],
  queryFn: async ({ signal }) => (await resultOf(api.GET("/executors", { signal }))).executors,
  staleTime: 10 * 60_000,
});

/** An executor as people call it. One that is unknown, such as a type that is being written, is called by its type. */
export function titleOf(executors: readonly Executor[], type: string): string {
  return executors.find((executor) => executor.type === type)?.title ?? type;
}

const none: readonly Executor[] = [];
