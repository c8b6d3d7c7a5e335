import { describe } from "vitest";

/**
 * Which set of tests runs, as scripts/test.ts says: `quick` is the daily loop, `usual` is `npm test`, `all` is the whole matrix. A file that is run by
 * itself is run as `npm test` runs it.
 */
export const scope = process.env.STEPWELL_TEST_SCOPE ?? "usual";

/** Tests that run in the whole matrix alone (`npm run test:all`): what a quicker test shows in another way already, again or in more detail. */
export function inWholeMatrix(tests: () => void): void {
  if (scope === "all") describe("in the whole matrix", tests);
}
