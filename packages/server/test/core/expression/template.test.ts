import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget, isConstant, parseTemplate, renderTemplate } from "../../../src/core/expression/expression.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { jsonValues } from "../schema/schema-arbitraries.ts";
import { scopeOf } from "./scopes.ts";

const scope = scopeOf({ input: { count: 2, name: "Ann", map: { a: [1, "x"] }, none: null, key: "}" } });

function templateOf(value: JsonValue) {
  const parsed = parseTemplate(value);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.template;
}

function rendered(value: JsonValue): JsonValue | undefined {
  const outcome = renderTemplate(templateOf(value), scope, new Budget());
  return "value" in outcome ? outcome.value : undefined;
}

describe("a template gives its value with every expression replaced", () => {
  test.each<[template: JsonValue, value: JsonValue]>([
    ["${ input.count }", 2],
    ["${input.map}", { a: [1, "x"] }],
    ["${ input.none }", null],
    ["${ input.count } of ${input.name}", "2 of Ann"],
    [" ${ input.count }", " 2"],
    ["${ input.map }!", '{"a":[1,"x"]}!'],
    ["${ input.none } and ${ true }", "null and true"],
    ['${ {"a": {"b": 1}} }', { a: { b: 1 } }],
    ['${ "}" + input.key + \'{"\' }', '}}{"'],
    ['${ """}"}""" }', '}"}'],
    ["${ r'\\d\\'' + \"}\" }", "\\d\\'}"],
    ["${ 1 // }\n + 1 }", 2],
    ["$${ input.name }", "${ input.name }"],
    ["$$${ input.name }", "$${ input.name }"],
    ["${ input.count }$${ input.count }", "2${ input.count }"],
    ["costs $5 {or} }", "costs $5 {or} }"],
    [{ "${ input.name }": "${ input.name }" }, { "${ input.name }": "Ann" }],
    [[{ deep: ["$${", "${ input.count + 1 }", true] }], [{ deep: ["${", 3, true] }]],
    [
      ["$${", { a: "$${" }],
      ["${", { a: "${" }],
    ],
  ])("%j", (template, value) => {
    expect(rendered(template)).toEqual(value);
  });

  test("a key of a template can have the name of a prototype's member", () => {
    const value = rendered(JSON.parse('{"__proto__": "${ input.name }", "a": "$${"}') as JsonValue) as object;
    expect(Object.entries(value)).toEqual([
      ["__proto__", "Ann"],
      ["a", "${"],
    ]);
  });
});

test("a template without expressions is constant, and gives exactly the value in the definition", () => {
  const withoutExpressions = jsonValues.filter((value) => !JSON.stringify(value).includes("${"));
  fc.assert(
    fc.property(withoutExpressions, (value) => {
      const template = templateOf(value);
      expect(isConstant(template)).toBe(true);
      expect(renderTemplate(template, scope, new Budget())).toEqual({ value });
      expect(rendered(value)).toBe(value);
      expect(rendered(["${ input.count }", value])).toEqual([2, value]);
    }),
  );
});

test("any text can be written with its `${` escaped", () => {
  const texts = fc.string({ unit: fc.constantFrom("$", "{", "}", "a", '"') });
  fc.assert(
    fc.property(texts, (text) => {
      const escaped = text.replaceAll("${", () => "$${");
      expect(rendered(escaped)).toBe(text);
    }),
  );
});

test("a template names each value that its expressions read", () => {
  const { references } = templateOf({ a: "${ input.count }", b: ["${ input.count + 1 } ${ steps.pay.output }"] });
  expect(references).toEqual([
    { root: "input", property: "count" },
    { root: "input", property: "count" },
    { root: "step", step: "pay", part: "output" },
  ]);
});

test("every wrong expression is reported, with its pointer and its offset in the string", () => {
  expect(parseTemplate({ "a/b": ["x ${ 1 + }", "${ inptu }"], c: "${ input.a", d: "${ {1: 2 }" })).toEqual({
    problems: [
      { pointer: "/a~1b/0", offset: 9, detail: expect.stringContaining("ends too early") },
      { pointer: "/a~1b/1", offset: 3, detail: expect.stringContaining("did you mean `input`?") },
      { pointer: "/c", offset: 0, detail: expect.stringContaining("is not closed") },
      { pointer: "/d", offset: 0, detail: expect.stringContaining("is not closed") },
    ],
  });
});

test("a failed template says where and why", () => {
  expect(renderTemplate(templateOf({ a: [1, "is ${ input.count + input.missing }"] }), scope, new Budget())).toEqual({
    failure: {
      pointer: "/a/1",
      offset: 20,
      kind: "value",
      message: expect.stringContaining("`input.missing` is not there"),
    },
  });
});

test("all expressions of a template share one budget", () => {
  const wide = scopeOf({ input: Array.from({ length: 1_000 }, (_, index) => index) });
  const sum = "${ input.map(x, x + 1).sum() }";
  const alone = new Budget();
  renderTemplate(templateOf(sum), wide, alone);
  const both = new Budget();
  renderTemplate(templateOf({ a: sum, b: sum }), wide, both);
  expect(both.work).toBe(2 * alone.work);
});

test("a value in the output cannot be nested deeper than the bound", () => {
  let deep: JsonValue = 1;
  for (let level = 0; level < 63; level++) deep = [deep];
  const own = scopeOf({ input: deep });
  expect(renderTemplate(templateOf(["${ input }"]), own, new Budget())).toHaveProperty("value");
  expect(renderTemplate(templateOf([["${ input }"]]), own, new Budget())).toMatchObject({
    failure: { pointer: "/0/0", kind: "budget", message: expect.stringContaining("64 levels deep") },
  });
});
