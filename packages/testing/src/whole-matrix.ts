import { describe } from "vitest";
import { scope } from "./scope.ts";

/** Marks tests that run only in the whole matrix (`npm run test:all`): what they show is also shown, in less detail, by a quicker test. */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
