import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type ExpressionFunction = Schemas["ExpressionFunction"];

/** The functions of expressions. The list is empty until they are loaded, or if they cannot be loaded. Completion then offers no functions. */
export function useExpressionFunctions(): readonly ExpressionFunction[] {
  return useQuery(expressionFunctionsQuery).data ?? none;
}

/** The list changes only with a new release of the service. */
const expressionFunctionsQuery = queryOptions({
  queryKey: ["expression-functions"],
  queryFn: async ({ signal }) => (await resultOf(api.GET("/expression-functions", { signal }))).functions,
  staleTime: 10 * 60_000,
});

const none: readonly ExpressionFunction[] = [];
