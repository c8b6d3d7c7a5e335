import { scope } from "@stepwell/testing/scope.ts";

/**
 * The ways in which a scenario runs on each home of the store. `npm test` and the quick loop try only the hardest way, which reads everything about a
 * job from the store again after each commit, and so goes through everything that the way by one node goes through.
 */
export function waysOf<Way extends string>(ways: readonly Way[]): readonly Way[] {
  return scope === "all" ? ways : ways.filter((way) => way === "by another node after every commit");
}
