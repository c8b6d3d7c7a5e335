import { notifyManager, QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem.ts";

// With this scheduler, a button shows that its change is under way before the browser handles another click. By default it shows this only after a
// timeout, and a fast second click may come before that.
notifyManager.setScheduler(queueMicrotask);

/**
 * Requests are sent even if the browser says that it is offline, since the service may be on this machine. With the default mode, a change would wait
 * in silence until the network is back, and then be sent although its user may have given up.
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
    // A change may only be repeated with its first Idempotency-Key, which is not known here.
    mutations: { networkMode, retry: false },
  },
});

function canRetryHelp(error: unknown): boolean {
  const { status, code } = asProblem(error);
  return code === "Unreachable" || status === 429 || status === 502 || status === 503 || status === 504;
}
