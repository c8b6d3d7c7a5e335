import { QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem.ts";

/** The cache of the service's answers, for all pages. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 3 && canRetryHelp(error),
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 8_000),
    },
    // A change may only be repeated with its first key, which only its caller knows.
    mutations: { retry: false },
  },
});

function canRetryHelp(error: unknown): boolean {
  const { status, code } = asProblem(error);
  return code === "Unreachable" || status === 429 || status === 502 || status === 503 || status === 504;
}
