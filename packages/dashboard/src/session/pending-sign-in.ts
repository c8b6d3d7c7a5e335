import type { PendingSignIn } from "./open-id.ts";

const key = "stepwell.sign-in";

/** Keeps the value in this tab from the moment when the browser leaves for the sign-in page until it comes back. */
export function rememberPending(pending: PendingSignIn): void {
  sessionStorage.setItem(key, JSON.stringify(pending));
}

/** The value can be read only once: when the address to which the provider sent the browser is opened again, nothing is found. */
export function takePending(): PendingSignIn | undefined {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? undefined : (JSON.parse(text) as PendingSignIn);
}
