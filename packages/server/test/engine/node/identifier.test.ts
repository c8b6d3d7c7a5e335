import { expect, test } from "vitest";
import { newId } from "../../../src/engine/identifier.ts";

test("ids of one millisecond sort in the order of their creation", () => {
  const ids = Array.from({ length: 5_000 }, () => newId(1_700_000_000_000));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("ids of a later millisecond sort after all of an earlier one, also when the clock went back in between", () => {
  const times = [5, 7, 6, 7, 8];
  const ids = times.map((time) => newId(time));
  expect([...ids].sort().map((id) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16))).toEqual([5, 6, 7, 7, 8]);
});
