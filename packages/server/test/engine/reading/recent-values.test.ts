import { expect, test } from "vitest";
import { RecentValues } from "../../../src/engine/values/recent-values.ts";

const keyOf = (valueNumber: number, jobId = "j") => ({ organizationId: "o", jobId, valueNumber });
const textOf = (length: number) => ({ value: { text: "x".repeat(length) }, bytes: length + 11 });

test("a value is found again by its job and its number", () => {
  const recent = new RecentValues();
  const value = textOf(10_000);
  recent.add(keyOf(1), value);
  expect(recent.get(keyOf(1))?.value).toBe(value.value);
  expect(recent.get(keyOf(2))).toBeUndefined();
  expect(recent.get(keyOf(1, "other"))).toBeUndefined();
  expect(recent.get({ ...keyOf(1), organizationId: "other" })).toBeUndefined();
});

test("very small and very large values are not kept", () => {
  const recent = new RecentValues();
  recent.add(keyOf(1), textOf(100));
  recent.add(keyOf(2), textOf(3_000_000));
  expect([recent.get(keyOf(1)), recent.get(keyOf(2))]).toEqual([undefined, undefined]);
});

test("the least recently used values are removed first", () => {
  const recent = new RecentValues();
  for (let number = 1; number <= 8; number += 1) recent.add(keyOf(number), textOf(900_000));
  expect(recent.get(keyOf(1))).toBeDefined();
  recent.add(keyOf(9), textOf(900_000));
  expect(recent.get(keyOf(1))).toBeDefined();
  expect(recent.get(keyOf(2))).toBeUndefined();
  expect(recent.get(keyOf(9))).toBeDefined();
});
