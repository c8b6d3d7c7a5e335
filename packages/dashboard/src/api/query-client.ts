import { notifyManager, QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem.ts";

// A button shows that its change is under way before the next event. By default it shows this after a timeout, and a fast second click comes earlier.
notifyManager.setScheduler(queueMicrotask);

/**
 * Requests are sent even if the browser says that it is offline. The service may be on this machine. Otherwise a change would wait in silence, and be
 * sent when the network is back, although its user may have given up by then.
 */
const networkMode = "always";

/** The cache of the service's answers, for all pages. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode,
      staleTime: 5_000,
      retry: (failures, error) => failures < 3 && canRetryHelp(error),
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 8_000),
    },
    // A change may only be repeated with its first key, which only its caller knows.
    mutations: { networkMode, retry: false },
  },
});

function canRetryHelp(error: unknown): boolean {
  const { status, code } = asProblem(error);
  return code === "Unreachable" || status === 429 || status === 502 || status === 503 || status === 504;
}
