import { describe, expect, test } from "vitest";
import { parseExpression } from "../../../src/core/expression/expression.ts";
import { expressionOf } from "./scopes.ts";

test("an expression names each value that it reads, once", () => {
  const source =
    'input.sku + steps["reserve-stock"].output.id + steps.reserve.error.code + input.sku + text(input) + events["ok"].payload["by"].name + string(now)';
  expect(expressionOf(source).references).toEqual([
    { root: "input", property: "sku" },
    { root: "step", step: "reserve-stock", part: "output", property: "id" },
    { root: "step", step: "reserve", part: "error", property: "code" },
    { root: "input" },
    { root: "event", eventId: "ok", part: "payload", property: "by" },
    { root: "now" },
  ]);
});

test("an expression also names the values that only decide its result, and those that `has` checks", () => {
  expect(expressionOf("has(steps.pay) ? output[input.key] : result.list.map(x, x.a + job.jobId)").references).toEqual([
    { root: "step", step: "pay" },
    { root: "output" },
    { root: "input", property: "key" },
    { root: "result", property: "list" },
    { root: "job", property: "jobId" },
  ]);
});

test("the variable of a macro hides a root of that name", () => {
  expect(expressionOf("input.list.map(input, input.a)").references).toEqual([{ root: "input", property: "list" }]);
});

describe("text that is not an expression is rejected with its place", () => {
  test.each<[source: string, offset: number, message: string]>([
    ["", 0, "is empty"],
    ["1 +", 3, "ends too early"],
    ["a = b", 2, "`==`"],
    ["a === b", 4, "has `===`; equality is written `==`"],
    ["true & false", 5, "`&&`"],
    ["true and false", 5, "has `and`; write `&&`"],
    ["input.a ?? 1", 9, "`has(input.name) ?"],
    ["$.a", 0, "without `$`"],
    ["`a`", 0, "has a backquote; write a text in quotes"],
    ["1 2", 2, "has `2`, which is not allowed at this place"],
    ['"abc', 0, "does not end"],
    ["if", 0, 'input["if"]'],
    ["foo.bar", 0, "`foo` is not a name that can be read here"],
    ["inptu.bar", 0, "did you mean `input`?"],
    ["forks", 0, 'forks["each-order"].item'],
    ["forks.each.itme", 11, "`itme` is not a part of a fork; read `item` or `index`; did you mean `item`?"],
    ["steps", 0, 'steps["reserve-stock"].output'],
    ["steps[input.name].output", 6, "the name must be a text in quotes"],
    ['events["a" + "b"].payload', 7, "the name must be a text in quotes"],
    ['steps["pay"]', 0, "read `.output`, `.input` or `.error` of it"],
    ["steps.pay.outptu", 10, "did you mean `output`?"],
    ["sizee(input)", 0, "did you mean `size`?"],
    ["steps.reserve-stock.output.id", 0, 'written in brackets, as in `steps["reserve-stock"]`'],
    ['"a".uppr()', 4, "did you mean `upper`?"],
    ["input.name.toUpperCase()", 11, "`toUpperCase` is `upper` here"],
    ['contains("a", "b")', 0, "`text.contains(part)`"],
    ["size(1, 2)", 0, "`size(value)`"],
    ["input.map(x)", 0, "takes a name for the item and an expression"],
    ["input.map(1, 2)", 10, "needs a plain name"],
    ["has(1 + 1)", 0, "asks whether one thing is there"],
    ["9007199254740993", 0, "beyond ±9007199254740991"],
    ["1e300", 0, "beyond ±9007199254740991"],
    ["1u", 0, "no unsigned numbers"],
    ['b"x"', 0, "no byte strings"],
    ['"a\\x00"', 0, "NUL"],
  ])("%s", (source, offset, message) => {
    const parsed = parseExpression(source);
    expect(parsed).toEqual({ problem: { offset, message: expect.stringContaining(message) } });
  });

  test.each<[name: string, source: string, message: string]>([
    ["a long one", `"${"x".repeat(4_000)}"`, "4000 are allowed"],
    ["many signs", `${"!".repeat(3_000)}true`, "signs in a row"],
    ["many signs with comments between", `${"!//\n".repeat(900)}true`, "signs in a row"],
    ["brackets in brackets", `${"(".repeat(1_900)}1${")".repeat(1_900)}`, "too large or nested too deeply"],
    ["lists in lists", `${"[".repeat(1_900)}${"]".repeat(1_900)}`, "too large or nested too deeply"],
    ["a long chain", Array.from({ length: 150 }, () => "1").join("+"), "more than 100 operations"],
    ["a long path", `input${".a".repeat(500)}`, "too large or nested too deeply"],
    ["many nodes", `[${"1,".repeat(1_001)}1]`, "too large or nested too deeply"],
  ])("%s", (_, source, message) => {
    expect(parseExpression(source)).toMatchObject({ problem: { message: expect.stringContaining(message) } });
  });
});

test("operators inside string literals are plain text", () => {
  expect(parseExpression(`"${"-".repeat(50)}"`)).toHaveProperty("expression");
});
