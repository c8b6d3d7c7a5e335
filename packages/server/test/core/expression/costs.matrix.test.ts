import { expectCpuBelow } from "@stepwell/testing/time/cpu-bound.ts";
import { describe, expect, test } from "vitest";
import { Budget, defaultLimits, evaluate } from "../../../src/core/expression/expression.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { expressionOf, scopeOf } from "./scopes.ts";

/**
 * Using up a whole budget takes at most 40 ms of computing on a current machine. These tests look for defects that let an evaluation take
 * seconds, or never end.
 */
const boundMs = 150;

const numbers = Array.from({ length: 700 }, (_, index) => index);
const words = Array.from({ length: 20_000 }, (_, index) => `w${(index * 7_919) % 20_000}`);
const long = "a".repeat(500_000);
const input: Record<string, JsonValue> = {
  numbers,
  many: Array.from({ length: 250_000 }, (_, index) => index % 10),
  fractions: Array.from({ length: 20_000 }, (_, index) => Math.sqrt(index)),
  words,
  long,
  longToo: `${"a".repeat(499_999)}b`,
  needle: `${"a".repeat(100_000)}b${"a".repeat(100_000)}`,
  wide: Object.fromEntries(words.map((word, index) => [word, index])),
  rows: words.slice(0, 5_000).map((word, index) => ({ word, index, list: [index] })),
  control: "\u0001".repeat(150_000),
  commas: "a,".repeat(200_000),
  brackets: JSON.stringify(words.map(() => ({}))),
  escapes: `"${"\\u0041".repeat(80_000)}"`,
  base64: Buffer.from(long).toString("base64"),
};
const scope = scopeOf({ input });

/** Repeats an expression for each of 700 numbers. */
const again = (source: string) => `input.numbers.map(number, ${source}).size()`;
const twice = (source: string) => again(`input.numbers.map(other, ${source})`);

describe("an evaluation ends within its budget, whatever it does", () => {
  test.each<[name: string, source: string]>([
    ["macros in macros", "input.numbers.all(x, input.numbers.all(y, x + y >= 0))"],
    ["macros that count", twice("input.numbers.exists_one(x, x == number)")],
    ["arithmetic", twice("number * other - number / 3 + other % 7")],
    ["lists in lists", twice("[number, [other]]")],
    ["maps", twice('{"a": number, "b": other}')],
    ["failures that are absorbed", "input.numbers.all(x, input.numbers.exists(y, input.missing || x > 9999))"],
    ["paths that lead nowhere", "input.numbers.all(x, input.numbers.all(y, !has(input.a.b.c.d)))"],
    ["texts that grow", `["a"]${".map(x, x + x)".repeat(40)}`],
    ["lists that grow", `[[1]]${".map(x, x + x)".repeat(40)}`],
    ["texts that grow by being joined", `["aa"]${".map(x, [x, x, x, x].join(x))".repeat(20)}`],
    ["texts that grow by being replaced", `["a"]${'.map(x, x.replace("a", "aaaaaaaaaa"))'.repeat(10)}`],
    ["texts that grow by being escaped", `['"']${".map(x, text([x]))".repeat(30)}`],
    ["long texts that are almost the same", again("input.long == input.longToo")],
    ["large values that are the same", again("input.rows == json(text(input.rows))")],
    ["maps with many keys", again("input.wide == merge(input.wide, {})")],
    ["looking for an item", again("{} in input.rows")],
    ["looking for a text in another one", again("input.long.contains(input.needle)")],
    ["counting characters", again("size(input.long)")],
    ["listing keys", again("input.wide.map(key, key)")],
    ["splitting", again('input.commas.split(",")')],
    ["splitting into characters", again('input.long.split("")')],
    ["replacing", again('input.commas.replace(",", "..")')],
    ["upper case", again('(input.long + "ß").upper()')],
    ["sorting numbers", again("sort(input.fractions)")],
    ["sorting texts", again("sort(input.words)")],
    ["sorting texts that begin alike", again("sort(input.words.map(word, input.needle + word))")],
    ["leaving out repetitions", again("distinct(input.rows)")],
    ["the greatest text", again("max(input.words)")],
    ["joining", again("input.words.join(input.needle)")],
    ["JSON text", again("text(input.rows)")],
    ["JSON text with many keys", again("text(input.wide)")],
    ["JSON text with escapes", again("text([input.control])")],
    ["numbers as text", again("input.fractions.map(x, text(x))")],
    ["reading JSON", again("json(input.brackets)")],
    ["reading JSON with escapes", again("json(input.escapes)")],
    ["base64", again("base64.decode(base64.encode(input.long))")],
    ["UUIDs", twice('uuid("a")')],
    ["times", twice('text(timestamp("2026-01-31T12:00:00Z") + duration("1h"))')],
    ["times in lists", twice("[now, now]")],
    ["patterns", again('input.words.exists(word, word.matches("(x+x+)+" + word))')],
    ["a pattern that other engines take very long for", again('input.long.matches("^(a+a+)+b$")')],
    ["large patterns", again('input.words.exists(word, word.matches("\\\\pL{20}" + word))')],
    ["patterns that are wrong", again('input.words.all(word, word.matches("(") || true)')],
    ["giving the same large value again and again", `[${Array.from({ length: 90 }, () => "input.many").join(", ")}]`],
    ["giving the same long text again and again", `[${Array.from({ length: 90 }, () => "input.long").join(", ")}]`],
  ])("%s", (_, source) => {
    const expression = expressionOf(source);
    const budget = new Budget();
    expect(evaluate(expression, scope, budget)).toMatchObject({ failure: { kind: "budget" } });
    expectCpuBelow(boundMs, () => evaluate(expression, scope, new Budget()));
  });
});

test("ordinary expressions use only a small part of the budget", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => ({
    sku: `sku-${index}`,
    price: index / 4,
    count: index % 5,
  }));
  const orders = scopeOf({ input: { lines, text: "lorem ipsum ".repeat(5_000) } });
  for (const source of [
    "input.lines.filter(line, line.count > 0).map(line, line.price * line.count).sum()",
    "input.lines.exists(line, line.sku == 'sku-999')",
    "sort(input.lines.map(line, line.sku)).join(', ')",
    "distinct(input.lines.map(line, line.count))",
    "input.lines.all(line, line.sku.matches('^sku-[0-9]+$'))",
    "input.text.replace('ipsum', 'IPSUM').split(' ').size()",
    "json(text(input.lines)) == input.lines",
    "input",
  ]) {
    const budget = new Budget();
    expect(evaluate(expressionOf(source), orders, budget)).toHaveProperty("value");
    expect(budget.work, source).toBeLessThan(defaultLimits.maxWork / 5);
  }
});

test("an evaluation costs the same each time, whatever was evaluated before", () => {
  const costOf = (source: string) => {
    const budget = new Budget();
    evaluate(expressionOf(source), scope, budget);
    return budget.work;
  };
  for (const source of ['"b".matches("a+b")', "sort(input.words)", "now == now"])
    expect(costOf(source)).toBe(costOf(source));
});

test("a used-up budget also ends the evaluation of `||`", () => {
  const outcome = evaluate(
    expressionOf(`${twice("number")} > 0 || true`),
    scope,
    new Budget({ ...defaultLimits, maxWork: 1_000 }),
  );
  expect(outcome).toMatchObject({
    failure: { kind: "budget", message: expect.stringContaining("1000 units of work") },
  });
});
