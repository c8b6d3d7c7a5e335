import { describe } from "vitest";
import { scope } from "./scope.ts";

/**
 * Marks tests that run only in the whole matrix (`npm run test:all`): they measure, show a quicker test's subject in more detail, or are further
 * stories of a page or a command.
 */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
