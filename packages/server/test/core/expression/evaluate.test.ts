import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget, describeFunctions, evaluate } from "../../../src/core/expression/expression.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { jsonValues } from "../schema/schema-arbitraries.ts";
import { expressionOf, outcomeOf, scopeOf } from "./scopes.ts";

const scope = scopeOf({
  input: {
    count: 3,
    name: "Ann",
    none: null,
    list: [1, 2, 3],
    lines: [
      { sku: "a", price: 2 },
      { sku: "b", price: 3 },
    ],
    deep: { deeper: { value: true } },
  },
  step: (name) =>
    ({ reserve: { output: { id: "r-1" }, input: { sku: "a" } }, failed: { error: { code: "Timeout" } } })[name],
  event: (eventId) =>
    eventId === "approved" ? { payload: { by: "Bob" }, sentAt: "2026-01-31T12:00:00.000Z" } : undefined,
  job: { jobId: "j-1" },
  now: Date.parse("2026-01-31T12:05:09.250Z"),
});

describe("the value of an expression", () => {
  test.each<[source: string, value: JsonValue]>([
    ["input.count + 1", 4],
    ["7 / 2", 3.5],
    ["6 / 2", 3],
    ["-7 % 3", -1],
    ["0 * -1", 0],
    ["0.1 + 0.2", 0.1 + 0.2],
    ["1 == 1.0", true],
    ["2 * 3 + 4 % 3", 7],
    ['"a" + "b"', "ab"],
    ["[1] + [2, null]", [1, 2, null]],
    ['[1, "a", null, {"b": [true]}]', [1, "a", null, { b: [true] }]],
    ['{"a": 1, "b": {"c": 2}} == {"b": {"c": 2.0}, "a": 1}', true],
    ['[1, 2] != [2, 1] && "1" != 1', true],
    ["null == input.none", true],
    ['"Ann" < "Bob" && 2 >= 2', true],
    ["2 in input.list", true],
    ['{"sku": "a", "price": 2} in input.lines', true],
    ['"count" in input && !("toString" in input)', true],
    ["input.list[2]", 3],
    ['input["name"]', "Ann"],
    ["input.none", null],
    ["[null][0]", null],
    ["input.count > 2 ? input.name : input.missing", "Ann"],
    ['steps["reserve"].output.id + steps.reserve.input.sku', "r-1a"],
    ["steps.failed.error.code", "Timeout"],
    ['events["approved"].payload.by', "Bob"],
    ["events.approved.sentAt", "2026-01-31T12:00:00.000Z"],
    ["job.jobId", "j-1"],
    ["now", "2026-01-31T12:05:09.250Z"],
    ['now - timestamp("2026-01-31T12:05:00Z")', "9.25s"],
    ['now - duration("1h") < now', true],
    ['-duration("1.5s")', "-1.5s"],
    ['now > timestamp("9999-12-31T23:59:59Z")', false],
    ["[now][0]", "2026-01-31T12:05:09.250Z"],
    ['{"at": now}.at == now', true],
    ['timestamp("2016-12-31T23:59:60Z")', "2017-01-01T00:00:00.000Z"],
    ['timestamp("2024-12-31T10:00:00Z").getDayOfYear()', 365],
    ['int(timestamp("1970-01-01T00:01:00Z"))', 60],
    ['duration("90m").getHours() + duration("90m").getMinutes()', 91],
    ["r'\\d' + \"\\u00e9\"", "\\dé"],
    ["input.list.map(x, x * 2)", [2, 4, 6]],
    ["input.list.map(x, x > 1, x * 2)", [4, 6]],
    ["input.list.filter(x, x != 2)", [1, 3]],
    ["input.lines.map(line, line.price).sum()", 5],
    ["input.list.all(x, x > 0) && input.list.exists(x, x == 2)", true],
    ["input.list.exists_one(x, x > 2)", true],
    ["input.deep.map(key, key)", ["deeper"]],
    [
      "input.list.map(x, input.list.map(y, x * y))",
      [
        [1, 2, 3],
        [2, 4, 6],
        [3, 6, 9],
      ],
    ],
    ["has(input.deep.deeper.value)", true],
    ["has(input.deep.missing.value)", false],
    ["has(input.name.length)", false],
    ["has(input.none)", true],
    ["has(input.none.x)", false],
    ["has(input.toString)", false],
    ["has(input.list[2]) && !has(input.list[3])", true],
    ["has(steps.reserve) && !has(steps.other) && !has(steps.other.output.id)", true],
    ["has(steps.failed.output)", false],
    ["has(events.approved.payload.by) && !has(events.rejected)", true],
    ["has(error) || has(output.x)", false],
    ["1 / 0 > 1 || true", true],
    ["true || 1 / 0 > 1", true],
    ["1 / 0 > 1 && false", false],
    ["[0, 2].exists(x, 4 / x == 2)", true],
    ["[0, 2].all(x, 4 / x == 3)", false],
    ['"aaa".replace("aa", "b")', "ba"],
    ['"abababc".split("ababc")', ["ab", ""]],
    ['"😀é".split("")', ["😀", "é"]],
    ['size("😀é")', 2],
    ['"abcabd".contains("abd") && "".contains("")', true],
    ['sort(["b", "a", "ab"])', ["a", "ab", "b"]],
    ["sort([10, 9, 1.5])", [1.5, 9, 10]],
    ['distinct([{"a": 1, "b": 2}, {"b": 2, "a": 1}, 1, "1"])', [{ a: 1, b: 2 }, 1, "1"]],
    ["max(1, 3, 2) + min([4, 5])", 7],
    ['max(now, timestamp("2030-01-01T00:00:00Z"))', "2030-01-01T00:00:00.000Z"],
    ['int("-12") + int(3.9) + int(-3.9)', -12],
    ["text(1.0) + text(null) + text(true) + text(0.1)", "1nulltrue0.1"],
    ["{'b': 1, 'c': 2, 'a': 3}.map(key, key)", ["a", "b", "c"]],
    ["text([{'b': {'d': 1, 'c': 2}, 'a': null}])", '[{"a":null,"b":{"c":2,"d":1}}]'],
    ['base64.decode("w6k") + base64.decode(base64.encode("ü"))', "éü"],
    ['uuid("order-17")', "15c5e415-e2ed-5a25-bdd8-c9e564ce8637"],
  ])("%s", (source, value) => {
    expect(outcomeOf(source, scope)).toEqual(value);
  });
});

describe("a failed evaluation says which part failed, and what to do", () => {
  test.each<[source: string, message: string]>([
    ["1 + input.missing", "`input.missing` is not there; before you read it, ask with `has(input.missing)`"],
    ["input.toString", "`input.toString` is not there"],
    ["input.name.first", "`input.name.first` reads a property of a string"],
    ["steps.other.output.id", "the step `other` did not run"],
    ["steps.failed.output", "the step `failed` did not run, or has no output yet"],
    ["events.rejected.payload", "no event `rejected` came"],
    ["output", "is not there at this point of the job"],
    ["input.list[3]", "`input.list[3]` has no item at that place"],
    ["input.list[-1]", "has no item at that place"],
    ["input.list[0.5]", "a list is read by whole numbers"],
    ["input[0]", "a map is read by texts"],
    ["input.count[0]", "reads an item of a number"],
    ["1 / 0", "`1 / 0` divides by zero"],
    ["1 % 0", "divides by zero"],
    ["9007199254740991 + 1", "is a number beyond ±9007199254740991"],
    ['input.count + "1"', "puts a number and a string on the two sides of `+`"],
    ['"a" in "abc"', "`text.contains(part)`"],
    ["input.name < 1", "`double(text)` turns it into a number"],
    ["input.name && true", "`input.name` is a string, where true or false is needed"],
    ["true && input.name", "where true or false is needed"],
    ["!input.count", "where true or false is needed"],
    ['-"a"', "puts `-` before a string"],
    ["input.name ? 1 : 2", "where true or false is needed"],
    ["input.count.map(x, x)", "goes through a number"],
    ["[1].filter(x, x)", "`x` is a number, where true or false is needed"],
    ["[0, 1].all(x, 4 / x == 4)", "divides by zero"],
    ["[1, 0].exists_one(x, 4 / x == 4)", "divides by zero"],
    ['{"a": 1, "a": 2}', "occurs twice as a key"],
    ["{1: 2}", "the keys of a map are texts"],
    ["lower(input.count)", "`input.count` is a number, and `lower` takes a string there"],
    ['sum([1, "2"])', "contains a string"],
    ["max([])", "empty list"],
    ["max(1)", "takes a list, or more than one value"],
    ['min(1, "a")', "compares a string with a number"],
    ["sort([1, null])", "a number and null"],
    ["sort([true, false])", "must be numbers, or all of them texts"],
    ['json("[1")', "not JSON (at its offset 2)"],
    ["json(\"{'a'}\")", "not JSON"],
    ['base64.decode("/w==")', "not UTF-8 text"],
    ['base64.decode("AA==")', "NUL"],
    ['base64.decode("a b")', "not base64"],
    ['int("1.5")', "not a whole number"],
    ['double("0x10")', "not a number"],
    ['timestamp("2026-02-30T00:00:00Z")', "not a time"],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', "outside the years 1 to 9999"],
    ['duration("1y")', "not a duration"],
    ['duration("")', "not a duration"],
    ['duration("0.0001s")', "whole milliseconds"],
    ['"a".matches("(")', "not a regular expression in RE2 syntax"],
    ['"a".replace("", "b")', "replaces the empty text"],
  ])("%s", (source, message) => {
    expect(outcomeOf(source, scope)).toEqual(expect.stringMatching(/^!/));
    expect(outcomeOf(source, scope)).toContain(message);
  });

  test("a failed evaluation gives the offset of the part that failed", () => {
    const outcome = evaluate(expressionOf("1 + input.list.map(x, 1 / 0)[0]"), scope, new Budget());
    expect(outcome).toMatchObject({ failure: { offset: 22, kind: "value" } });
  });

  test("the first failed side of `||` is named if the other side does not decide the result", () => {
    const outcome = evaluate(expressionOf("input.missing || input.count > 5"), scope, new Budget());
    expect(outcome).toMatchObject({ failure: { offset: 0, message: expect.stringContaining("input.missing") } });
  });
});

test("a failure message never contains a value", () => {
  const secret = scopeOf({ input: { secret: "s3cr3t", key: "k3y" } });
  const sources = [
    "input.secret + 1",
    "input[input.key]",
    "json(input.secret)",
    "int(input.secret)",
    "timestamp(input.secret)",
    "duration(input.secret)",
    "base64.decode(input.secret)",
    "sort([input.secret, 1])",
    '"a".matches(input.secret + "(")',
  ];
  for (const source of sources) {
    const outcome = outcomeOf(source, secret);
    expect(outcome).toEqual(expect.stringMatching(/^!/));
    expect(outcome).not.toMatch(/s3cr3t|k3y/);
  }
});

test("a key with the name of a prototype's member is an ordinary key", () => {
  const outcome = outcomeOf('merge({"__proto__": {"polluted": true}}, {"a": 1})') as { polluted?: unknown };
  expect(Object.keys(outcome)).toEqual(["__proto__", "a"]);
  expect(outcome.polluted).toBeUndefined();
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(outcomeOf('has({"a": 1}.constructor) || has({}["__proto__"])')).toBe(false);
});

test("parts of the scope are loaded only when the evaluation needs them", () => {
  const asked: string[] = [];
  const lazy = scopeOf({
    get input() {
      asked.push("input");
      return { a: 1 };
    },
    step: (name) => {
      asked.push(name);
      return { output: 1 };
    },
  });
  expect(outcomeOf("false ? input.a : steps.one.output", lazy)).toBe(1);
  expect(asked).toEqual(["one"]);
});

describe("every function gives the result that the documentation says", () => {
  test.each(describeFunctions().map(({ name, example }) => [name, ...example] as const))(
    "%s: %s",
    (_, source, value) => {
      expect(outcomeOf(source)).toEqual(value);
    },
  );
});

test("every value passes through text, JSON and comparison unchanged", () => {
  fc.assert(
    fc.property(jsonValues, (value) => {
      const own = scopeOf({ input: { value } });
      expect(outcomeOf("input.value", own)).toBe(value);
      expect(outcomeOf("json(text([input.value]))[0] == input.value", own)).toBe(true);
      expect(outcomeOf("size(distinct([input.value, json(text([input.value]))[0]]))", own)).toBe(1);
    }),
  );
});

test("searching a text finds what JavaScript finds", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  const part = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(letters, part, letters, (text, wanted, by) => {
      const own = scopeOf({ input: { text, wanted, by } });
      expect(outcomeOf("input.text.contains(input.wanted)", own)).toBe(text.includes(wanted));
      expect(outcomeOf("input.text.split(input.wanted)", own)).toEqual(text.split(wanted));
      expect(outcomeOf("input.text.replace(input.wanted, input.by)", own)).toBe(text.replaceAll(wanted, () => by));
    }),
  );
});
