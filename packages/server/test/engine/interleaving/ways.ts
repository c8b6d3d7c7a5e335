import { scope } from "@stepwell/testing/scope.ts";

/**
 * The ways in which a scenario runs on each home of the store. `npm test` and `test:quick` try only the hardest way. It reads everything about a
 * job from the store again after each commit, so it also tests everything that the way "by one node" tests.
 */
export function waysOf<Way extends string>(ways: readonly Way[]): readonly Way[] {
  return scope === "all" ? ways : ways.filter((way) => way === "by another node after every commit");
}
