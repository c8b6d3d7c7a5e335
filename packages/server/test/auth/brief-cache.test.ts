import { expect, test } from "vitest";
import { BriefCache } from "../../src/auth/credentials/brief-cache.ts";

function cacheWithClock(maxSize = 10) {
  const clock = { nowMs: 0 };
  const cache = new BriefCache<string>(1_000, maxSize, () => clock.nowMs);
  return { clock, cache };
}

test("a value is answered without a promise while it is fresh, and loaded again afterwards", async () => {
  const { clock, cache } = cacheWithClock();
  expect(await cache.get("a", async () => "one")).toBe("one");
  clock.nowMs = 999;
  expect(cache.get("a", async () => "two")).toBe("one");
  clock.nowMs = 1_000;
  expect(await cache.get("a", async () => "two")).toBe("two");
});

test("age counts from before the look-up, so a slow look-up gives an old value", async () => {
  const { clock, cache } = cacheWithClock();
  const slow = cache.get("a", async () => {
    clock.nowMs = 900;
    return "one";
  });
  expect(await slow).toBe("one");
  clock.nowMs = 1_000;
  expect(await cache.get("a", async () => "two")).toBe("two");
});

test("simultaneous look-ups of one value share one query, until that query is too slow to trust", async () => {
  const { clock, cache } = cacheWithClock();
  let loads = 0;
  const gate = Promise.withResolvers<string>();
  const load = () => {
    loads += 1;
    return gate.promise;
  };
  const first = cache.get("a", load);
  const second = cache.get("a", load);
  expect(loads).toBe(1);
  clock.nowMs = 1_000;
  const third = cache.get("a", load);
  expect(loads).toBe(2);
  gate.resolve("one");
  expect(await Promise.all([first, second, third])).toEqual(["one", "one", "one"]);
});

test("a forgotten value is loaded again, and a look-up that was running at that moment is not remembered", async () => {
  const { cache } = cacheWithClock();
  const gate = Promise.withResolvers<string>();
  const early = cache.get("a", () => gate.promise);
  cache.forget("a");
  gate.resolve("stale");
  expect(await early).toBe("stale");
  expect(await cache.get("a", async () => "new")).toBe("new");
});

test("a change forgets the values that it concerns and every running look-up, and no other value", async () => {
  const { cache } = cacheWithClock();
  for (const key of ["a", "b"]) await cache.get(key, async () => key);
  const gate = Promise.withResolvers<string>();
  const early = cache.get("c", () => gate.promise);
  cache.forgetWhere((value, key) => value === "a" && key === "a");
  gate.resolve("stale");
  expect(await early).toBe("stale");
  expect(await cache.get("a", async () => "new")).toBe("new");
  expect(cache.get("b", async () => "new")).toBe("b");
  expect(await cache.get("c", async () => "new")).toBe("new");
});

test("a failed look-up is not remembered", async () => {
  const { cache } = cacheWithClock();
  await expect(cache.get("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await cache.get("a", async () => "back")).toBe("back");
});

test("the number of remembered values is bounded; the value that was loaded longest ago goes first", async () => {
  const { cache } = cacheWithClock(2);
  for (const key of ["a", "b", "c"]) await cache.get(key, async () => key);
  expect(cache.get("c", async () => "again")).toBe("c");
  expect(cache.get("b", async () => "again")).toBe("b");
  expect(await cache.get("a", async () => "again")).toBe("again");
});
