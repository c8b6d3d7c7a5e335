import { expect, test } from "vitest";
import { jsonProblemOf } from "../../src/parts/data/json-problem.ts";

// The service's own parser must report the same for these texts (packages/server/test/core/json/json.test.ts).
test.each([
  ["", 1, 1],
  ['{"a":1', 1, 7],
  ['{\n  "a": nil\n}', 2, 8],
  ["[1,]", 1, 4],
  ['{"a":1,}', 1, 8],
  ["{} x", 1, 4],
  ["01", 1, 2],
  ["[1.]", 1, 3],
  ["'a'", 1, 1],
  ['"a\nb"', 1, 3],
  [String.raw`"\x"`, 1, 2],
  ["tru", 1, 1],
  ["{1:2}", 1, 2],
  ['{"a" 1}', 1, 6],
  ["[1}", 1, 3],
  ["1,2", 1, 2],
  ['{"a":{"b":[1,{"c":', 1, 19],
])("%j has its syntax error at line %i, column %i", (text, line, column) => {
  expect(jsonProblemOf(text)).toBe(`JSON syntax error, line ${line}, column ${column}`);
});

test.each(["{}", " [ ] ", '{"a": [1, -2.5e3, true, null, {"b\\u00e9": "\\n"}]}', "7", '"😀"'])(
  "%j is valid JSON",
  (text) => {
    expect(jsonProblemOf(text)).toBeUndefined();
  },
);

test("a number that no browser can represent is valid JSON, but is not sent as null", () => {
  expect(jsonProblemOf('{"a": 1e400}')).toBe("A number is too large");
});
