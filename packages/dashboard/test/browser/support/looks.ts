import { describe } from "vitest";
import type { StoreHome } from "../../../../server/test/support/stores.ts";

/** What a page looks like does not depend on the store: it is looked at on one of them. */
export function looks(home: StoreHome, tests: () => void): void {
  if (home.name === "embedded") describe("as it looks", tests);
}
