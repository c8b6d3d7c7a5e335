import { expectCpuBelow } from "@stepwell/testing/time/cpu-bound.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  Budget,
  evaluate,
  type PartType,
  parseExpression,
  parseTemplate,
  renderTemplate,
  type TypeScope,
  templateType,
  typeOf,
} from "../../../src/core/expression/expression.ts";
import { childrenOf, type Node } from "../../../src/core/expression/tree.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { compareSchemas } from "../../../src/core/schema/compare/compare.ts";
import { anything, nothing } from "../../../src/core/schema/node.ts";
import { checkValue, type Schema } from "../../../src/core/schema/schema.ts";
import { jsonValues, schemaOf } from "../schema/schema-arbitraries.ts";
import { expressionOf, scopeOf } from "./scopes.ts";

const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const input = closed(
  {
    sku: { type: "string" },
    kind: { enum: ["a", "b"] },
    count: { type: "integer", minimum: 0 },
    parts: { type: "integer", minimum: 1 },
    price: { type: "number" },
    note: { type: "string" },
    isGift: { type: "boolean" },
    nullable: { type: ["string", "null"] },
    any: {},
    list: { type: "array", items: { type: "integer" } },
    pair: { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 },
    lines: { type: "array", items: closed({ sku: { type: "string" }, price: { type: "number" } }, ["sku"]) },
    open: { type: "object", properties: { a: { type: "string" } } },
    at: { type: "string", format: "date-time" },
    way: { anyOf: [closed({ card: { type: "string" } }), closed({ iban: { type: "string" } }), { type: "null" }] },
  },
  "sku kind count parts price isGift nullable any list pair lines open at way".split(" "),
);

const always = (schema: JsonValue): PartType => ({ presence: "always", schema: schemaOf(schema) });
const maybe = (schema: JsonValue): PartType => ({ presence: "maybe", schema: schemaOf(schema) });
const never: PartType = { presence: "never", schema: nothing };

const scope: TypeScope = {
  input: always(input),
  output: never,
  result: never,
  error: maybe(closed({ code: { type: "string" } })),
  item: always(closed({ sku: { type: "string" } })),
  index: always({ type: "integer" }),
  job: always(closed({ jobId: { type: "string" } })),
  step: (name) =>
    ({
      reserve: { output: always(closed({ id: { type: "string" } })), input: always({}), error: never },
      pay: { output: maybe(closed({ id: { type: "string" } })), input: maybe({}), error: maybe({}) },
    })[name],
  forkAround: () => undefined,
  stepNames: ["reserve", "pay"],
  event: (eventId) =>
    eventId === "approved" ? { presence: "maybe", payload: maybe(closed({ by: { type: "string" } })) } : undefined,
  eventIds: ["approved"],
  fork: (name) =>
    name === "each" ? { item: always({ type: "string" }), index: always({ type: "integer" }) } : undefined,
  forkNames: ["each"],
};

function typed(source: string) {
  return typeOf(expressionOf(source), scope);
}

describe("an error that is certain is a problem", () => {
  test.each<[source: string, message: string]>([
    ["input.skuu", "`input.skuu` is never there: the schema does not allow the property; did you mean `sku`?"],
    ["input.sku.length", "reads a property of a string"],
    ["input.sku + 1", "puts a string and an integer on the two sides of `+`"],
    ["input.sku && true", "is a string, where true or false is needed"],
    ["input.count ? 1 : 2", "is an integer, where true or false is needed"],
    ["!input.sku", "where true or false is needed"],
    ["-input.sku", "which `-` does not take"],
    ["1 / 0", "divides by zero"],
    ["lower(input.count)", "`lower` takes a string there"],
    ["max(3)", "one value that is not a list"],
    ['input.sku.matches("(")', "not a regular expression in RE2 syntax"],
    // With a pattern that takes more work than the budget of one evaluation, every evaluation would fail.
    ['input.sku.matches("\\\\pL{600}")', "a pattern that"],
    ["input.count.map(x, x)", "only lists and maps have items"],
    ["input.pair[2]", "has no item at that place"],
    ["input.list[0.5]", "a list is read by whole numbers"],
    ['input.list["a"]', "reads a property of an array"],
    ["steps.resreve.output", "names no step that can be read here; did you mean `reserve`?"],
    ["has(steps.resreve.output)", "names no step that can be read here"],
    ["steps.reserve.error", "is never there at this point of the job"],
    ["steps.reserve.output.no", "is never there"],
    ["events.aproved.payload", "names no event that a step waits for; did you mean `approved`?"],
    ["output", "is never there at this point of the job"],
    ['{"a": 1, "a": 2}', "occurs twice"],
    ["{1: 2}", "the keys of a map are texts"],
    ["input.lines.map(x, x.prise)", "did you mean `price`?"],
    ["input.way.cart", "did you mean `card`?"],
    ["now + 1", "puts a timestamp and an integer"],
    ["has(input.sku) && input.skuu == 1", "is never there"],
  ])("%s", (source, message) => {
    expect(typed(source).problems).toEqual([{ offset: expect.any(Number), message: expect.stringContaining(message) }]);
  });
});

describe("an expression that fails for some values causes a message with a guard", () => {
  test.each<[source: string, message: string]>([
    ["input.note", "`input.note` may be missing; guard it with `has(input.note) ? … : …`"],
    ["input.open.a", "may be missing"],
    ["input.open.b", "may be missing"],
    ["input.any.b", "may be"],
    ["input.any + 1", "may put null and an integer on the two sides of `+`"],
    ["input.nullable + 'x'", "may put null and a string"],
    ["input.way.card", "may be null"],
    ["input.price / input.count", "may divide by zero; guard it with `input.count != 0 ? … : …`"],
    ["input.list[0]", "may have no item at that place; guard it with `size(input.list) > 0 ? … : …`"],
    ["input.list[input.count]", "may find nothing"],
    ["input.open[input.sku]", "may find nothing"],
    ["steps.pay.output", "may be missing"],
    ["steps.pay.output.id", "may be missing"],
    ["error.code", "may be missing"],
    ["events.approved.payload.by", "may be missing"],
    ["json(input.sku)", "might not be JSON"],
    ["base64.decode(input.sku)", "might not be base64"],
    ["timestamp(input.sku)", "might not be a time"],
    ["duration(input.sku)", "might not be a duration"],
    ["int(input.sku)", "might not be a whole number"],
    ["max(input.list)", "the list may be empty"],
    ["max(input.count, input.sku)", "of different types"],
    ["sum(input.any)", "may be"],
    ["sort(input.lines)", "no order"],
    ["input.sku.matches(input.kind + input.sku)", "write it as a literal"],
    ["input.sku.replace(input.kind + input.sku, '')", "may be the empty text"],
    ["{input.sku: 1, input.kind: 2}", "may equal another key"],
    ["input.lines.map(x, x.price)", "may be missing"],
    ["input.any ? 1 : 2", "may be"],
    ["has(input.note) || input.note == ''", "may be missing"],
    ["has(input.note) ? 1 : input.note", "may be missing"],
    ["input.count >= 0 ? 1 / input.count : 0", "may divide by zero"],
    ["size(input.list) >= 0 ? input.list[0] : 0", "may have no item"],
    ["size(input.list) > 1 ? input.list[2] : 0", "may have no item"],
  ])("%s", (source, message) => {
    const { problems, mayFail } = typed(source);
    expect(problems).toEqual([]);
    expect(mayFail.map((finding) => finding.message).join("\n")).toContain(message);
  });
});

describe("the type of an expression that cannot fail", () => {
  test.each<[source: string, schema: JsonValue]>([
    ["input.sku", { type: "string" }],
    ["input.kind", { enum: ["a", "b"] }],
    ["input.count + 1", { type: "integer" }],
    ["input.price * 2", { type: "number" }],
    ["input.price / input.parts", { type: "number" }],
    ["input.parts > 0 ? 1 : 'x'", { enum: [1, "x"] }],
    ["has(input.note) ? input.note : input.sku", { type: "string" }],
    ["!has(input.note) ? input.sku : input.note", { type: "string" }],
    ["has(input.note) && input.note.startsWith('a')", { type: "boolean" }],
    ["!has(input.note) || input.note.startsWith('a')", { type: "boolean" }],
    ["has(input.open.b) ? text(input.open.b) : 'x'", { type: "string" }],
    ["has(input.way.card) ? input.way.card : 'x'", { type: "string" }],
    ["input.nullable != null ? input.nullable + 'x' : 'y'", { type: "string" }],
    ["input.nullable == null ? 'y' : input.nullable", { type: "string" }],
    ["input.count != 0 ? input.price / input.count : 0", { type: "number" }],
    ["input.count > 0 ? input.price % input.count : 0", { type: "number" }],
    ["0 == input.count ? 0 : input.price / input.count", { type: "number" }],
    ["size(input.list) > 0 ? input.list[0] : 0", { type: "integer" }],
    ["input.list.size() >= 3 ? input.list[2] : 0", { type: "integer" }],
    ["size(input.list) == 0 ? 0 : max(input.list)", { type: "integer" }],
    ["has(input.list[1]) ? input.list[1] : 0", { type: "integer" }],
    ["input.pair[1]", { type: "string" }],
    ["input.list.map(x, x + 1)", { type: "array", items: { type: "integer" } }],
    ["input.pair.map(x, x + '!')", { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 }],
    ["input.lines.map(x, has(x.price), x.price).sum()", { type: "number" }],
    ["sum(input.list)", { type: "integer" }],
    ["input.open.map(key, key)", { type: "array", items: { type: "string" } }],
    [
      "{'a': input.sku, 'b': [1, input.count]}",
      closed({ a: { type: "string" }, b: { type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 } }),
    ],
    ["merge(job, {'sku': input.sku})", closed({ jobId: { type: "string" }, sku: { type: "string" } })],
    ["now", { type: "string", format: "date-time" }],
    ["timestamp(input.at) + duration('1h') > now", { type: "boolean" }],
    ["[input.sku, input.count][1] + [1, 'a'][0]", { type: "integer" }],
    [
      "[input.sku, input.count]",
      { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
    ],
    ["[now]", { type: "array", items: { type: "string", format: "date-time" }, minItems: 1, maxItems: 1 }],
    ["uuid(input.sku)", { type: "string", format: "uuid" }],
    ["size(input.sku)", { type: "integer", minimum: 0 }],
    ["steps.reserve.output.id", { type: "string" }],
    ["has(steps.pay.output) ? steps.pay.output.id : null", { type: ["string", "null"] }],
    ["has(events.approved.payload) ? events.approved.payload.by : ''", { type: "string" }],
    ["input.sku in ['a', 'b'] || input.any == 1", { type: "boolean" }],
    ["[].map(x, x.a.b + 1)", { type: "array", maxItems: 0 }],
  ])("%s", (source, schema) => {
    const type = typed(source);
    expect({ problems: type.problems, mayFail: type.mayFail }).toEqual({ problems: [], mayFail: [] });
    expect(compareSchemas(type.schema, schemaOf(schema)).fit).toBe("always");
  });
});

test("the type of a template has the literal parts, the types of its expressions, and the places that may fail", () => {
  const parsed = parseTemplate({
    sku: "${ input.sku }",
    label: "No. ${ input.count } for ${ input.note }",
    fixed: { a: [1, null] },
    list: ["${ input.count }", 7],
    wrong: "x ${ input.skuu }",
  });
  if ("problems" in parsed) throw new Error("unreachable");
  const { schema, problems, mayFail } = templateType(parsed.template, scope);
  expect(problems).toEqual([{ pointer: "/wrong", offset: 5, detail: expect.stringContaining("`sku`") }]);
  expect(mayFail).toEqual([{ pointer: "/label", offset: 28, detail: expect.stringContaining("has(input.note)") }]);
  const wanted = closed({
    sku: { type: "string" },
    label: { type: "string", minLength: 9 },
    fixed: closed({
      a: { type: "array", prefixItems: [{ const: 1 }, { const: null }], items: false, minItems: 2 },
    }),
    list: { type: "array", items: { type: "integer", minimum: 0 }, minItems: 2, maxItems: 2 },
    wrong: { type: "string", minLength: 2 },
  });
  expect(compareSchemas(schema, schemaOf(wanted)).fit).toBe("always");
});

/** The narrow schema that these sample values suggest: all of them fit it, and it names what they have in common. */
function schemaOfSamples(values: readonly JsonValue[]): JsonValue {
  const objects = values.filter(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ) as JsonObject[];
  const lists = values.filter(Array.isArray) as JsonValue[][];
  const scalars = values.filter((value) => typeof value !== "object" || value === null);
  const ways: JsonValue[] = [];
  if (objects.length > 0) {
    const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
    const having = (name: string) => objects.filter((object) => Object.hasOwn(object, name));
    ways.push({
      type: "object",
      properties: Object.fromEntries(
        names.map((name) => [name, schemaOfSamples(having(name).map((object) => object[name] as JsonValue))]),
      ),
      required: names.filter((name) => having(name).length === objects.length),
      additionalProperties: false,
    });
  }
  if (lists.length > 0) {
    const sizes = lists.map((list) => list.length);
    const items = lists.flat();
    const isTuple = new Set(sizes).size === 1 && items.length > 0;
    if (isTuple) {
      const columns = (lists[0] ?? []).map((_, index) =>
        schemaOfSamples(lists.map((list) => list[index] as JsonValue)),
      );
      ways.push({ type: "array", prefixItems: columns, items: false, minItems: columns.length });
    } else
      ways.push({
        type: "array",
        ...(items.length > 0 && { items: schemaOfSamples(items) }),
        minItems: Math.min(...sizes),
        maxItems: Math.max(...sizes),
      });
  }
  const types = new Set(scalars.map((value) => (value === null ? "null" : typeof value)));
  if (types.size > 0) ways.push({ type: [...types] });
  return ways.length === 1 ? (ways[0] as JsonValue) : { anyOf: ways };
}

const path = fc.constantFrom(
  "input",
  "input.a",
  "input.b",
  "input.c",
  "input.a.b",
  "input.a.a",
  "input.b.c",
  "input[0]",
  "input.a[0]",
  "input.a[1]",
  'input["b"]',
  "steps.s.output",
  "steps.s.output.a",
  "error.code",
  "events.e.payload.a",
  "now",
);
const literalSource = fc.constantFrom(
  "0",
  "1",
  "2",
  "0.5",
  '"a"',
  '""',
  "null",
  "true",
  "[]",
  "{}",
  '[1, "a"]',
  '{"a": 1, "b": [2]}',
  '"2026-01-31T12:00:00Z"',
  '"1h"',
);
const binary = fc.constantFrom("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "in", "&&", "||");

/** Texts of expressions. Many of them check first whether a value is present, so that a good part of them cannot fail. */
const sources = fc.letrec<{ any: string; variable: string }>((tie) => {
  const any = tie("any");
  const functionCall = fc.constantFrom(
    "size",
    "text",
    "string",
    "sum",
    "max",
    "min",
    "sort",
    "distinct",
    "lower",
    "upper",
    "trim",
    "int",
    "double",
    "json",
    "timestamp",
    "duration",
    "base64.encode",
    "uuid",
  );
  const method = fc.constantFrom("contains", "startsWith", "split", "join", "matches");
  const macro = fc.constantFrom("all", "exists", "exists_one", "map", "filter");
  return {
    variable: fc.oneof(fc.constantFrom("x", "x.a", "x.b"), any),
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 4, arbitrary: path },
      { weight: 2, arbitrary: literalSource },
      {
        weight: 3,
        arbitrary: fc.tuple(any, binary, any).map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      },
      { weight: 3, arbitrary: fc.tuple(path, any).map(([read, other]) => `(has(${read}) ? ${read} : ${other})`) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(path, path, any)
          .map(([read, one, other]) => `(has(${read}) && has(${one}) ? [${read}, ${one}] : ${other})`),
      },
      { weight: 1, arbitrary: fc.tuple(path, any).map(([read, other]) => `(!has(${read}) || ${other})`) },
      { weight: 1, arbitrary: fc.tuple(path, any).map(([read, other]) => `(${read} != 0 ? ${other} / ${read} : 1)`) },
      { weight: 1, arbitrary: fc.tuple(path, any).map(([read, other]) => `(${read} != null ? ${read} : ${other})`) },
      {
        weight: 1,
        arbitrary: fc.tuple(path, any).map(([read, other]) => `(size(${read}) > 1 ? ${read}[1] : ${other})`),
      },
      { weight: 1, arbitrary: fc.tuple(any, any, any).map(([a, b, c]) => `(${a} ? ${b} : ${c})`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `[${a}, ${b}]`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `{"a": ${a}, "b": ${b}}`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `{text(${a}): ${b}}`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `merge(${a}, ${b})`) },
      { weight: 2, arbitrary: fc.tuple(functionCall, any).map(([name, a]) => `${name}(${a})`) },
      { weight: 1, arbitrary: fc.tuple(any, method, any).map(([a, name, b]) => `${a}.${name}(${b})`) },
      { weight: 1, arbitrary: fc.tuple(any, any, any).map(([a, b, c]) => `${a}.replace(${b}, ${c})`) },
      {
        weight: 2,
        arbitrary: fc.tuple(any, macro, tie("variable")).map(([list, name, body]) => `${list}.${name}(x, ${body})`),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(any, tie("variable"), tie("variable"))
          .map(([list, filter, body]) => `${list}.map(x, ${filter}, ${body})`),
      },
      { weight: 1, arbitrary: fc.tuple(any, fc.constantFrom("a", "b")).map(([of, name]) => `${of}.${name}`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([of, index]) => `${of}[${index}]`) },
      { weight: 1, arbitrary: any.map((of) => `!${of}`) },
      { weight: 1, arbitrary: any.map((of) => `-${of}`) },
    ),
  };
}).any;

const samples = fc.array(jsonValues, { minLength: 1, maxLength: 3 });

test("an expression whose type shows no failure never fails, and its value fits its type", { timeout: 60_000 }, () => {
  let passed = 0;
  fc.assert(
    fc.property(sources, samples, samples, fc.boolean(), (source, inputs, others, isThere) => {
      const parsed = parseExpression(source);
      if ("problem" in parsed) return;
      const other: PartType = { presence: isThere ? "always" : "maybe", schema: schemaOf(schemaOfSamples(others)) };
      const types: TypeScope = {
        ...scope,
        input: always(schemaOfSamples(inputs)),
        error: maybe(closed({ code: { type: "string" } })),
        step: () => ({ output: other, input: other, error: other }),
        event: () => ({ presence: other.presence, payload: other }),
      };
      const type = typeOf(parsed.expression, types);
      if (type.problems.length + type.mayFail.length > 0) return;
      passed++;
      for (const value of inputs) {
        for (const step of isThere ? others : [...others, undefined]) {
          const values = scopeOf({
            input: value,
            step: () => ({ output: step }),
            event: () => ({ payload: step, sentAt: "2026-01-31T12:00:00.000Z" }),
            error: isThere ? { code: "Timeout" } : undefined,
          });
          const outcome = evaluate(parsed.expression, values, new Budget());
          if ("failure" in outcome) expect(outcome.failure.kind).not.toBe("value");
          else expect(checkValue(type.schema, outcome.value)).toEqual([]);
        }
      }
    }),
    { numRuns: tries(10_000) },
  );
  expect(passed).toBeGreaterThan(tries(500));
});

test("an expression that is certain to fail has no value", () => {
  fc.assert(
    fc.property(sources, samples, (source, inputs) => {
      const parsed = parseExpression(source);
      if ("problem" in parsed) return;
      const types = { ...scope, input: always(schemaOfSamples(inputs)), step: () => undefined, event: () => undefined };
      if (mayPassBy(parsed.expression.tree)) return;
      if (typeOf(parsed.expression, types).problems.length === 0) return;
      for (const value of inputs) {
        expect(evaluate(parsed.expression, scopeOf({ input: value }), new Budget())).toHaveProperty("failure");
      }
    }),
    { numRuns: tries(5_000) },
  );
});

/** Whether an evaluation may end without visiting all parts of an expression. */
function mayPassBy(node: Node): boolean {
  return ["choice", "macro", "and", "or", "has"].includes(node.kind) || childrenOf(node).some(mayPassBy);
}

test("the values of templates fit the types of the templates", () => {
  fc.assert(
    fc.property(jsonValues, samples, (constant, inputs) => {
      const parsed = parseTemplate({
        constant,
        whole: "${ input }",
        text: "a ${ input }",
        list: [constant, "${ [input] }"],
      });
      if ("problems" in parsed) throw new Error("unreachable");
      const { schema, mayFail }: { schema: Schema; mayFail: readonly unknown[] } = templateType(parsed.template, {
        ...scope,
        input: always(schemaOfSamples(inputs)),
      });
      expect(mayFail).toEqual([]);
      for (const value of inputs) {
        const outcome = renderTemplate(parsed.template, scopeOf({ input: value }), new Budget());
        expect("value" in outcome && checkValue(schema, outcome.value)).toEqual([]);
      }
    }),
  );
});

test("the type of an expression that grows with each step is found quickly", () => {
  const chain = (link: string, count: number) => `[input.any]${link.repeat(count)}`;
  for (const source of [
    chain(".map(x, merge({'a': x, 'b': x}, {'c': x}))", 40),
    chain(".map(x, has(x.a) ? {'a': x, 'b': 1} : {'a': 2, 'c': x})", 30),
    chain(".map(x, [x, [x]])", 40),
  ]) {
    const anyInput: TypeScope = { ...scope, input: { presence: "always", schema: anything } };
    const expression = expressionOf(source);
    expectCpuBelow(150, () => typeOf(expression, anyInput));
  }
});
