import fc from "fast-check";
import { expect, test } from "vitest";
import { checkValue, compareSchemas } from "../../src/core/schema.ts";
import { jsonValues, rawDefinitions, tryParse } from "./schema-arbitraries.ts";

test("what is said to fit always does, and what is said to fit never does not", () => {
  const counts = { always: 0, maybe: 0, never: 0 };
  const eff = { always: 0, maybe: 0, never: 0 };
  const property = fc.property(
    rawDefinitions,
    fc.array(jsonValues, { minLength: 10, maxLength: 40 }),
    (definitions, values) => {
      const schemas = tryParse(definitions);
      const from = schemas?.get("first");
      const to = schemas?.get("third");
      fc.pre(from !== undefined && to !== undefined);
      if (from === undefined || to === undefined) return;
      const { verdict, problems } = compareSchemas(from, to);
      counts[verdict] += 1;
      expect(problems.length === 0, JSON.stringify(problems)).toBe(verdict === "always");
      for (const value of values) {
        if (checkValue(from, value).length > 0) continue;
        eff[verdict]++;
        const isFit = checkValue(to, value).length === 0;
        if (verdict !== "maybe") expect(isFit, JSON.stringify(value)).toBe(verdict === "always");
      }
    },
  );
  fc.assert(property, { numRuns: 20000 });
  console.log(counts, eff);
}, 60000);
