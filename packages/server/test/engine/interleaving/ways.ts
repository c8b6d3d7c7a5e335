import { scope } from "@stepwell/testing/scope.ts";
import type { StoreHome } from "@stepwell/testing/stores.ts";

/**
 * The ways in which a scenario runs on this home of the store. PostgreSQL tries all of them. The embedded store executes the same statements, so
 * there `npm test` tries only the hardest way, which reads everything about a job from the store again after each commit. The quick loop tries this
 * way on PostgreSQL: it goes through everything that the way by one node goes through.
 */
export function waysOn<Way extends string>({ name }: StoreHome, ways: readonly Way[]): readonly Way[] {
  const isEach = scope === "all" || (scope === "usual" && name === "postgres");
  return isEach ? ways : ways.filter((way) => way === "by another node after every commit");
}
