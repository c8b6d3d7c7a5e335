import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkValue } from "../../src/core/schema.ts";
import { jsonValues, rawDefinitions, tryParse } from "./schema-arbitraries.ts";

test("a value fits exactly when an independent implementation of JSON Schema 2020-12 says so", () => {
  let fitCount = 0;
  let n = 0;
  const property = fc.property(
    rawDefinitions,
    fc.array(jsonValues, { minLength: 5, maxLength: 20 }),
    (definitions, values) => {
      const schema = tryParse(definitions)?.get("first");
      fc.pre(schema !== undefined);
      if (schema === undefined) return;
      const reference = new Validator({ $ref: "#/definitions/first", definitions: definitions as never }, "2020-12");
      for (const value of values) {
        const isFit = checkValue(schema, value).length === 0;
        n++;
        if (isFit) fitCount++;
        expect(isFit, JSON.stringify(value)).toBe(reference.validate(value).valid);
      }
    },
  );
  fc.assert(property, { numRuns: 2000 });
  console.log(n, fitCount);
});
