import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonValue, jsonEquals, jsonTypeOf, parseJson } from "../../../src/core/json/json.ts";
import { findJsonProblem } from "../../../src/core/json/json-problem.ts";
import { sizeOfJson } from "../../../src/core/json/json-size.ts";

const limits = { maxDepth: 64 };

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

describe("the service accepts the JSON that JSON.parse accepts", () => {
  test.each([
    ["a usual body", '{"name":"a","tags":["b",1,-0.5,true,false,null],"empty":{},"none":[]}'],
    ["white space everywhere", ' \t\r\n{ "a" : [ 1 , 2 ] } '],
    ["the largest safe whole number", "[9007199254740991,-9007199254740991]"],
    ["sixteen digits in a text", '{"card":"1234567890123456"}'],
    ["an exponent that stays safe", "[1e3,1.5E+2,2e-3]"],
    ["a decimal fraction that no double equals", "0.1000000000000000055"],
    ["the smallest double", "5e-324"],
    ["zero in unusual forms", "[-0,0.000,0e999]"],
    ["sixty-four levels", nested(64)],
    ["a hundred lists side by side", `[${"[],".repeat(99)}[]]`],
    ["brackets in a text", JSON.stringify("[".repeat(100))],
    ["escapes", String.raw`"\"\\\/\b\f\n\r\t\u0041"`],
    ["a surrogate pair, raw and escaped", String.raw`["😀","\ud83d\ude00"]`],
    ["a byte order mark inside a text", '"\ufeff"'],
    ["a key named constructor", '{"constructor":{"name":1},"prototype":2}'],
    ["a text that names the prototype", '["__proto__","constructor"]'],
  ])("%s", (_, text) => {
    expect(parseJson(text, limits)).toEqual({ value: JSON.parse(text) });
  });

  test("the last value of a repeated key wins", () => {
    expect(parseJson('{"a":1,"a":2}', limits)).toEqual({ value: { a: 2 } });
  });
});

describe("JSON is rejected, with the place and what to do, when it", () => {
  test.each([
    ["is nested too deeply", nested(65), "/0".repeat(64), "more than 64 levels"],
    ["is nested a million times", "[".repeat(1_000_000), "/0".repeat(64), "more than 64 levels"],
    ["has a whole number past 2^53", '{"a":[1,9007199254740993]}', "/a/1", "send it as a string"],
    ["has 2^53 itself", "9007199254740992", "", "send it as a string"],
    ["has a large number with an exponent", '{"a":1e20}', "/a", "send it as a string"],
    ["has a large number with a fraction", '{"a":-9007199254740993.0}', "/a", "send it as a string"],
    ["has a number that becomes Infinity", "[1e400]", "/0", "send it as a string"],
    ["has a number that becomes 0", "[1e-400]", "/0", "would become 0"],
    ["has such a number written out", `[0.${"0".repeat(400)}1]`, "/0", "would become 0"],
    ["has NUL in a text", String.raw`{"a":"x\u0000"}`, "/a", "NUL"],
    ["has NUL in a key", String.raw`{"b":{"\u0000":1}}`, "/b", "NUL"],
    ["has half of an escaped surrogate pair", String.raw`["\ud800"]`, "/0", "surrogate"],
    ["has a raw half of a surrogate pair", '["\ud800"]', "/0", "surrogate"],
    ["has the halves in the wrong order", String.raw`["\udc00\ud800"]`, "/0", "surrogate"],
    ["has a half pair in a key", String.raw`{"a":{"\udfff":1}}`, "/a", "surrogate"],
    ["has the key __proto__", '{"a":{"__proto__":{}}}', "/a", "`__proto__`"],
    ["has the key __proto__ in escapes", String.raw`{"\u005f_proto__":1}`, "", "`__proto__`"],
    ["has a key for a constructor's prototype", '{"constructor":{"prototype":{}}}', "/constructor", "`prototype`"],
    ["begins with a byte order mark", "\ufeff{}", "", "byte order mark"],
  ])("%s", (_, text, pointer, words) => {
    const parsed = parseJson(text, limits);
    expect(parsed).toMatchObject({ problem: { pointer, detail: expect.stringContaining(words) } });
  });

  test.each([
    ["", 0, "line 1, column 1"],
    ['{"a":1', 6, "line 1, column 7"],
    ['{\n  "a": nil\n}', 9, "line 2, column 8"],
    ["[1,]", 3, "line 1, column 4"],
    ['{"a":1,}', 7, "line 1, column 8"],
    ["{} x", 3, "line 1, column 4"],
    ["01", 1, "line 1, column 2"],
    ["[1.]", 2, "line 1, column 3"],
    ["'a'", 0, "line 1, column 1"],
    ['"a\nb"', 2, "line 1, column 3"],
    [String.raw`"\x"`, 1, "line 1, column 2"],
    ["tru", 0, "line 1, column 1"],
    ["{1:2}", 1, "line 1, column 2"],
    ['{"a" 1}', 5, "line 1, column 6"],
  ])("is not JSON: %j", (text, textOffset, place) => {
    expect(parseJson(text, limits)).toMatchObject({
      problem: { pointer: "", textOffset, detail: expect.stringContaining(place) },
    });
  });
});

/** JSON text with content of all the kinds that the parser rejects, and often with a typing mistake. */
const texts = fc
  .tuple(
    fc.json({ maxDepth: 4, noUnicodeString: false }),
    fc.array(
      fc.record({
        at: fc.nat(200),
        put: fc.constantFrom(
          ...["", "[", "{", "]", "}", ",", ":", '"', "\\", "0", "-", ".", "e5", "1e400", "1e-400", "12345678901234567"],
          ...[
            "\\u0000",
            "\\ud800",
            "\\ud83d\\ude00",
            "\ud800",
            "😀",
            '"__proto__":',
            "constructor",
            "null",
            " ",
            "\n",
            "\ufeff",
          ],
        ),
        over: fc.nat(2),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([json, changes]) =>
    changes.reduce((text, { at, put, over }) => text.slice(0, at) + put + text.slice(at + over), json),
  );

test("the exact walk finds a syntax error exactly where JSON.parse finds it", () => {
  const property = fc.property(texts, (text) => {
    const problem = findJsonProblem(text, 64);
    const isSyntaxError = problem?.detail.includes("is not JSON") || problem?.detail.includes("byte order mark");
    if (isSyntaxError) expect(() => JSON.parse(text)).toThrow(SyntaxError);
    // Any other problem ends the walk before the rest of the text is read, so JSON.parse may find a syntax error there.
    if (problem === undefined) expect(() => JSON.parse(text)).not.toThrow();
  });
  fc.assert(property, { numRuns: tries(5_000) });
});

test("the quick check accepts exactly the texts that the exact walk accepts", () => {
  const property = fc.property(texts, (text) => {
    const parsed = parseJson(text, limits);
    const problem = findJsonProblem(text, limits.maxDepth);
    expect(parsed).toEqual(problem === undefined ? { value: JSON.parse(text) } : { problem });
  });
  fc.assert(property, { numRuns: tries(5_000) });
});

test("a megabyte of any JSON is walked in well under a second", () => {
  const bodies = [
    "[".repeat(1 << 20),
    `[${"[],".repeat(300_000)}1]`,
    `[${"1,".repeat(500_000)}1e5]`,
    `"${"\\u0041".repeat(170_000)}"`,
  ];
  const startedAt = performance.now();
  for (const body of bodies) parseJson(body, limits);
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_000));
});

test("values are equal if their JSON has the same meaning", () => {
  expect(jsonEquals({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] })).toBe(true);
  const different: [JsonValue, JsonValue][] = [
    [{}, []],
    [[], {}],
    [null, {}],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    ["1", 1],
    [{ toString: 1 }, { a: 1 }],
    [{ a: 1 }, { toString: 1 }],
  ];
  for (const [a, b] of different) expect(jsonEquals(a, b), JSON.stringify([a, b])).toBe(false);
});

test("each value has one of the six types of JSON", () => {
  const values: JsonValue[] = [{}, [], "", 1, 1.5, true, null];
  expect(values.map(jsonTypeOf)).toEqual(["object", "array", "string", "number", "number", "boolean", "null"]);
  expect(values.filter(isJsonObject)).toEqual([{}]);
  expect(isJsonObject(undefined)).toBe(false);
});

describe("the size of a value", () => {
  const sizeOf = (value: JsonValue) => sizeOfJson(value, Number.MAX_SAFE_INTEGER);

  test("counts the characters of its texts and of the names and indexes of its members, and each member", () => {
    expect(sizeOf({ name: "abc", list: [true, null, 7], empty: {} })).toBe(1 + (4 + 3) + (4 + 1 + 3 * 2) + (5 + 1));
    expect(sizeOf(Array.from({ length: 1_200 }, () => null))).toBe(1 + 1_200 + 10 + 90 * 2 + 900 * 3 + 200 * 4);
  });

  test("is the same for a list and for an object whose names are its indexes, and the count stops soon after a limit", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(40), (value, limit) => {
        const list = [value, value, value] as JsonValue[];
        expect(sizeOf(list)).toBe(sizeOf({ ...list }));
        expect(sizeOfJson(list, limit) > limit).toBe(sizeOf(list) > limit);
      }),
    );
  });
});
