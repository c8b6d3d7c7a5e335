import { stripTypeScriptTypes } from "node:module";
import { describe, expect, test } from "vitest";
import { replacedSources } from "../faults/replacement.ts";
import { tenants } from "./tenants.ts";

describe.each(tenants)("the fix against $name", ({ fix }) => {
  test("is in the server's sources, and these can still be parsed when the fix is turned off", () => {
    const sources = [...replacedSources(fix.turnedOffBy).values()];
    expect(sources).not.toEqual([]);
    for (const source of sources) expect(() => stripTypeScriptTypes(source)).not.toThrow();
  });
});

const file = "engine/commit/turns.ts";

test("a text that a module does not have cannot be replaced", () => {
  expect(() => replacedSources([{ file, text: "nobody writes this", replacement: "" }])).toThrow("0 times");
});

test("a text that a module has more than once cannot be replaced", () => {
  expect(() => replacedSources([{ file, text: "organizationId", replacement: "" }])).toThrow(
    new RegExp(`^${file} has this text [1-9]\\d* times instead of once`),
  );
});

test("replacements of one module are made one after the other", () => {
  const turnedOffBy = [
    { file, text: "export class Turns {", replacement: "export class Rests {" },
    { file, text: "export class Rests {", replacement: "export class Pauses {" },
  ];
  expect([...replacedSources(turnedOffBy).values()]).toEqual([expect.stringContaining("export class Pauses {")]);
});
