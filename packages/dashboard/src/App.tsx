import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { queryClient } from "./api/query-client.ts";
import { Toasts } from "./parts/states/Toasts.tsx";
import { createAppRouter } from "./router.tsx";
import { useSession } from "./session/use-session.ts";
import { SignedOut } from "./shell/SignedOut.tsx";
import { Starting } from "./shell/Starting.tsx";

/**
 * This dialog is not needed at first, so it is loaded after the page is shown. If it cannot be loaded, the end of the session is shown only by the
 * errors of failed requests.
 */
const loadSessionEnded = () => import("./shell/SessionEnded.tsx").catch(() => ({ SessionEnded: () => null }));
const SessionEnded = lazy(async () => ({ default: (await loadSessionEnded()).SessionEnded }));
const whenPageStandsMs = 4_000;

/** When the session ends, the pages stay visible under a dialog that asks for a new sign-in. */
export function App() {
  const state = useSession();
  switch (state.status) {
    case "starting":
      return <Starting />;
    case "signed-out":
      return <SignedOut error={state.error} />;
    case "insecure":
      return <SignedOut isInsecure />;
    case "signed-in":
    case "ended":
      return (
        <QueryClientProvider client={queryClient}>
          <Pages />
          <Suspense>{state.status === "ended" && <SessionEnded />}</Suspense>
          <Toasts />
        </QueryClientProvider>
      );
  }
}

/** The router reads the address when it is made. So it is made here, after the sign-in has restored the address to which the person was going. */
function Pages() {
  const [router] = useState(createAppRouter);
  useEffect(() => {
    const timer = setTimeout(loadSessionEnded, whenPageStandsMs);
    return () => clearTimeout(timer);
  }, []);
  return <RouterProvider router={router} />;
}
