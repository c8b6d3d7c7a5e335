import { describe } from "vitest";
import { scope } from "./scope.ts";

/** Tests that run in the whole matrix alone (`npm run test:all`): what a quicker test shows in another way already, again or in more detail. */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
