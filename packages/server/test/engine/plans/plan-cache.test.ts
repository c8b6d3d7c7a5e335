import { expect, test } from "vitest";
import { PlanCache } from "../../../src/engine/plans/plan-cache.ts";
import { noop, planOf } from "../../core/job/jobs.ts";

const plan = planOf([noop("only", null)]);

function keep(cache: PlanCache, organizationId: string, bytes: number, ...versionIds: string[]): void {
  for (const versionId of versionIds) cache.keep({ versionId, organizationId, plan, bytes });
}

function kept(cache: PlanCache, ...versionIds: string[]): string[] {
  return versionIds.filter((versionId) => cache.find(versionId) !== undefined);
}

test("plans are kept up to a number of bytes; the least recently used goes first", () => {
  const cache = new PlanCache(100);
  for (const name of ["a", "b", "c", "d"]) keep(cache, name, 25, name);
  cache.find("a");
  keep(cache, "e", 25, "e");
  expect(kept(cache, "a", "b", "c", "d", "e")).toEqual(["a", "c", "d", "e"]);
  expect(cache.bytes).toBe(100);
});

test("one organization can use half of the cache, and beyond that its own oldest plans are removed", () => {
  const cache = new PlanCache(100);
  keep(cache, "quiet", 10, "q1", "q2");
  keep(cache, "busy", 20, "b1", "b2", "b3", "b4");
  expect(kept(cache, "q1", "q2", "b1", "b2", "b3", "b4")).toEqual(["q1", "q2", "b3", "b4"]);
});

test("a plan that is larger than the whole cache is kept alone, and the same version counts once", () => {
  const cache = new PlanCache(100);
  keep(cache, "one", 10, "a");
  keep(cache, "one", 500, "large", "large");
  expect(kept(cache, "a", "large")).toEqual(["large"]);
  expect(cache.bytes).toBe(500);
});

test("the total bound also holds while an organization removes its own plans", () => {
  const cache = new PlanCache(100);
  keep(cache, "others", 19, "o1", "o2", "o3", "o4", "o5");
  keep(cache, "more", 5, "m1");
  keep(cache, "more", 46, "m2");
  expect(kept(cache, "m1", "m2")).toEqual(["m2"]);
  expect(cache.bytes).toBeLessThanOrEqual(100);
});
