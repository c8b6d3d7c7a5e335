import { describe } from "vitest";
import { scope } from "./scope.ts";

/**
 * Marks tests that run only in the whole matrix (`npm run test:all`): they show again, or in more detail, facts that a
 * quicker test shows already.
 */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
