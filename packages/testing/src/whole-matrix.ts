import { describe } from "vitest";
import { scope } from "./scope.ts";

/**
 * Marks tests that run only in the whole matrix (`npm run test:all`): they measure, test in more detail what a quicker test already covers, or try a
 * page or a command in further situations.
 */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
