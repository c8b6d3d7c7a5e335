import { expect, test } from "vitest";
import { Resting } from "../../../src/engine/commit/resting.ts";

test("the commands of an organization come back together, after its rest, in the order in which they arrived", async () => {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const resting = new Resting<string>(resolve);
  const begunAt = performance.now();

  // The numbers are the milliseconds that are left of the organization's rest when the command comes.
  resting.append("costly", "third", 5.2);
  resting.append("costly", "fourth", 3.9);
  resting.prepend("costly", ["first", "second"], 0.1);
  expect([resting.has("costly"), resting.has("other")]).toEqual([true, false]);

  expect(await promise).toEqual(["first", "second", "third", "fourth"]);
  expect(performance.now() - begunAt).toBeGreaterThanOrEqual(5);
  expect(resting.has("costly")).toBe(false);
});

test("organizations do not wait for each other's rest", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const back: string[] = [];
  const resting = new Resting<string>((commands) => {
    back.push(...commands);
    if (back.length === 2) resolve();
  });

  resting.append("long", "later", 40);
  resting.append("short", "sooner", 1);

  await promise;
  expect(back).toEqual(["sooner", "later"]);
});
