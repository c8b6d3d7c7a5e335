import { useSyncExternalStore } from "react";
import type { SignedInUser } from "./open-id.ts";
import { type SessionState, session } from "./session.ts";

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}

/** The signed-in user, for pages that are shown only while a user is signed in. */
export function useUser(): SignedInUser {
  const state = useSession();
  if (state.status !== "signed-in" && state.status !== "ended") throw new Error("Nobody is signed in.");
  return state.user;
}
