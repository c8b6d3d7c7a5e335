import { useSyncExternalStore } from "react";

/** The style sheets have this width as well. */
const narrow = window.matchMedia("(max-width: 640px)");

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}
