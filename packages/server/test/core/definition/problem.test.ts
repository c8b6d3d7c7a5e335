import { expect, test } from "vitest";
import { closestName, didYouMean } from "../../../src/core/closest-name.ts";
import { ProblemList, pointerOf, pointerTo, quoted } from "../../../src/core/problem.ts";

test("a pointer escapes the characters of RFC 6901, and no others", () => {
  expect(pointerTo("", "a/b~c")).toBe("/a~1b~0c");
  expect(pointerTo("/steps", 0)).toBe("/steps/0");
  expect(pointerTo("", "")).toBe("/");
  expect(pointerOf(["a", 0, "~"])).toBe("/a/0/~0");
});

test("a quoted name is never longer than a line, and never cut within a character", () => {
  expect(quoted("approve")).toBe("`approve`");
  const long = quoted("😀".repeat(100));
  expect(long.length).toBeLessThan(90);
  expect(quoted(`x${"😀".repeat(100)}`).isWellFormed()).toBe(true);
});

test("a list of problems is bounded, and says if there were more", () => {
  const list = new ProblemList(2);
  list.addAll("/a", [{ pointer: "/b", detail: "one" }]);
  expect(list.isFull).toBe(false);
  list.add("", "two");
  expect(list.isFull).toBe(true);
  list.add("", "three");
  expect(list.count).toBe(2);
  expect(list.toArray()).toEqual([
    { pointer: "/a/b", detail: "one" },
    { pointer: "", detail: "two" },
    { pointer: "", detail: "these are the first 2; there may be more" },
  ]);
});

test("a list of problems is also bounded in characters, because each pointer can be as long as the document", () => {
  const list = new ProblemList(1_000);
  for (let index = 0; index < 1_000; index++) list.add(`/${"k".repeat(400_000)}/${index}`, "is unknown");
  expect(list.count).toBe(3);
  expect(list.toArray().at(-1)).toEqual({ pointer: "", detail: "these are the first 3; there may be more" });
});

test("only the first hundred names get hints", () => {
  const list = new ProblemList(1_000);
  const hints = Array.from({ length: 101 }, () => list.hint("aprove", ["approve"]));
  expect(hints.filter((hint) => hint !== "")).toHaveLength(100);
});

test.each([
  ["aprove", ["reject", "approve"], "approve"],
  ["appprove", ["approve"], "approve"],
  ["apporve", ["approve"], "approve"],
  ["Approve", ["approve"], "approve"],
  ["minLenght", ["minLength", "maxLength"], "minLength"],
  ["ship-order-2", ["ship-order-1", "ship-order"], "ship-order-1"],
  ["transitionTo", ["transitionToStep"], undefined],
  ["reserve", ["approve", "ship"], undefined],
  ["ab", ["ac", "b"], undefined],
  ["ab", ["AB"], "AB"],
  ["", ["a"], undefined],
  ["name", ["name"], undefined],
  ["x".repeat(100), [`${"x".repeat(99)}y`], undefined],
])("for %j of %j the suggested name is %j", (name, candidates, meant) => {
  expect(closestName(name, candidates)).toBe(meant);
});

test("a hint ends the sentence, or is empty", () => {
  expect(didYouMean("aprove", ["approve"])).toBe("; did you mean `approve`?");
  expect(didYouMean("aprove", [])).toBe("");
});
