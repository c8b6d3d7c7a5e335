import type { StoreHome } from "@stepwell/testing/stores.ts";
import { describe } from "vitest";

/** What a page looks like does not depend on the store: it is looked at on one of them. */
export function looks(home: StoreHome, tests: () => void): void {
  if (home.name === "embedded") describe("as it looks", tests);
}

/** What the page does by itself, and the store has no part in, is tried on one of them. */
export function whicheverStore(home: StoreHome, tests: () => void): void {
  if (home.name === "embedded") describe("on whichever store", tests);
}
