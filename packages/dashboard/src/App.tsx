import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { queryClient } from "./api/query-client.ts";
import { Toasts } from "./parts/states/Toasts.tsx";
import { createAppRouter } from "./router.tsx";
import { SignedOut } from "./session/SignedOut.tsx";
import { useSession } from "./session/use-session.ts";
import { Starting } from "./shell/Starting.tsx";

/** No page begins with a dialog, so this one comes when the page stands; without it the page stays, and its answers say the same. */
const loadSessionEnded = () => import("./session/SessionEnded.tsx").catch(() => ({ SessionEnded: () => null }));
const SessionEnded = lazy(async () => ({ default: (await loadSessionEnded()).SessionEnded }));
const whenPageStandsMs = 4_000;

/** The pages are there only while somebody is signed in; a session that ends leaves them standing under a question. */
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

/** The router reads the address when it is made: after the sign-in has put back where the person was going. */
function Pages() {
  const [router] = useState(createAppRouter);
  useEffect(() => {
    const timer = setTimeout(loadSessionEnded, whenPageStandsMs);
    return () => clearTimeout(timer);
  }, []);
  return <RouterProvider router={router} />;
}
