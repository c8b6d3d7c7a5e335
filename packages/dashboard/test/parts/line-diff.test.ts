import { array, assert, constantFrom, property } from "fast-check";
import { expect, test } from "vitest";
import { type DiffLine, diffLines } from "../../src/parts/data/line-diff.ts";

const rendered = (lines: readonly DiffLine[]) =>
  lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`).join("\n");

test.each([
  ["nothing", [], [], ""],
  ["the same", ["a", "b"], ["a", "b"], " a\n b"],
  ["one line more", ["a", "c"], ["a", "b", "c"], " a\n+b\n c"],
  ["one line less", ["a", "b", "c"], ["a", "c"], " a\n-b\n c"],
  ["one line changed", ["a", "b", "c"], ["a", "x", "c"], " a\n-b\n+x\n c"],
  ["all new", [], ["a"], "+a"],
  ["two places", ["a", "b", "c", "d", "e"], ["a", "x", "c", "d"], " a\n-b\n+x\n c\n d\n-e"],
])("%s", (_name, before, after, expected) => {
  expect(rendered(diffLines(before, after))).toBe(expected);
});

test("the diff without its added lines is the first text, and without its removed lines the second, for any change", () => {
  const text = array(constantFrom("a", "b", "c", "d"), { maxLength: 40 });
  assert(
    property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      expect(lines.filter(({ kind }) => kind !== "added").map((line) => line.text)).toEqual(before);
      expect(lines.filter(({ kind }) => kind !== "removed").map((line) => line.text)).toEqual(after);
    }),
  );
});

test("two long texts with nothing in common are compared quickly", () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `before ${index}`);
  const after = Array.from({ length: 20_000 }, (_, index) => `after ${index}`);
  const startedAt = performance.now();
  expect(diffLines(before, after)).toHaveLength(40_000);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
