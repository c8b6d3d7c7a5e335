import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../src/core/json/canonical-json.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { SeenItems } from "../../../src/core/json/seen-items.ts";
import { checkValue } from "../../../src/core/schema/schema.ts";
import { jsonValues, schemaOf } from "../schema/schema-arbitraries.ts";

describe("items of a list", () => {
  test("are equal exactly when their canonical texts are", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(jsonValues, smallValues), { maxLength: 40 }), (items) => {
        const texts = items.map(canonicalJson);
        expect(firstEquals(items)).toEqual(texts.map((text) => texts.indexOf(text)));
      }),
    );
  });

  test("that share a hash are told apart", () => {
    const items = sharingHash(100);
    expect(firstEquals([...items, ...items])).toEqual([...items.keys(), ...items.keys()]);
  });

  test("that share a hash are compared only until the bound is reached", () => {
    const [problem] = checkValue(schemaOf({ uniqueItems: true }), sharingHash(20_000));
    expect(problem?.detail).toMatch("takes more than 1500000 checks");
  });

  test("are all compared, even in the largest list that a request can hold", () => {
    const schema = schemaOf({ uniqueItems: true });
    const small = Array.from({ length: 140_000 }, (_, n) => [n]);
    expect(JSON.stringify(small).length).toBeGreaterThan(1_000_000);
    for (const value of [small, small.map(([n]) => n as number), small.map(([n]) => `${n}`)]) {
      expect(checkValue(schema, value)).toEqual([]);
      expect(checkValue(schema, [...value, value[70_000] as JsonValue])).toEqual([
        { pointer: "/140000", detail: "equals item 70000, but no two items may be equal" },
      ]);
    }
  });
});

/** Random values. Many of them are equal, but with their properties in another order. */
const smallValues: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(0, -0, 1, 1.5, "1", "", null, true, false, [], [[]], {}),
  fc.shuffledSubarray(["a", "b", "c"]).map((names) => Object.fromEntries(names.map((name) => [name, 1]))),
  fc.array(fc.constantFrom<JsonValue>(0, "0", null), { maxLength: 3 }),
);

function firstEquals(items: readonly JsonValue[]): (number | undefined)[] {
  const seen = new SeenItems(items, () => true);
  return items.map((_, index) => seen.firstEqual(index));
}

/** Numbers that have the same hash, which is the high half plus 31 times the low half: the low half grows by 1, the high half shrinks by 31. */
function sharingHash(count: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  return Array.from({ length: count }, (_, n) => {
    view.setInt32(0, 0x4009_0000 - 31 * n);
    view.setInt32(4, 1_000 + n);
    return view.getFloat64(0);
  });
}
