import fc from "fast-check";
import { expect, test } from "vitest";
import { BitRows } from "../../../src/core/definition/graph/bit-rows.ts";

const bound = 100;
const someNumbers = fc.uniqueArray(fc.nat(bound - 1));

test("a row is a set of numbers", () => {
  const property = fc.property(someNumbers, someNumbers, someNumbers, (own, added, except) => {
    const rows = new BitRows(3, bound);
    for (const [row, numbers] of [own, added, except].entries()) {
      for (const number of numbers) expect(rows.add(row, number)).toBe(true);
      for (const number of numbers) expect(rows.add(row, number)).toBe(false);
    }
    const united = new Set(own).union(new Set(added).difference(new Set(except)));
    expect(rows.addRow(0, { rows, row: 1 }, { rows, row: 2 })).toBe(united.size > own.length);
    expect(new Set(rows.values(0))).toEqual(united);
    expect(rows.values(0)).toEqual([...united].sort((a, b) => a - b));
    expect(rows.values(1)).toHaveLength(added.length);
    expect(rows.key(0) === rows.key(1)).toBe(united.symmetricDifference(new Set(added)).size === 0);
    rows.keepRow(0, { rows, row: 2 });
    expect(new Set(rows.values(0))).toEqual(united.intersection(new Set(except)));
  });
  fc.assert(property, { numRuns: 300 });
});
