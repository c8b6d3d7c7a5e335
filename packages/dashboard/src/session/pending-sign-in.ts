import type { PendingSignIn } from "./open-id.ts";

const key = "stepwell.sign-in";

/** Kept in this tab between leaving for the sign-in page and coming back. */
export function rememberPending(pending: PendingSignIn): void {
  sessionStorage.setItem(key, JSON.stringify(pending));
}

/** The value can be read once: a second visit of the address to which the provider led back finds nothing. */
export function takePending(): PendingSignIn | undefined {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? undefined : (JSON.parse(text) as PendingSignIn);
}
