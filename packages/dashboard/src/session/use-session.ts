import { useSyncExternalStore } from "react";
import type { SignedInUser } from "./open-id.ts";
import { type SessionState, session } from "./session.ts";

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}

/** Returns the user who signed in, also after the session has ended, since the page stays then. For pages that are shown only after a sign-in. */
export function useUser(): SignedInUser {
  const state = useSession();
  if (state.status !== "signed-in" && state.status !== "ended") throw new Error("Nobody is signed in.");
  return state.user;
}
