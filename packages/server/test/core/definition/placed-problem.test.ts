import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { onceCpuMsOf } from "@stepwell/testing/time/cpu-time.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import { placeProblems } from "../../../src/core/definition/placed-problem.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { offsetsOf } from "../../../src/core/json/pointer-offsets.ts";
import { positionsOf } from "../../../src/core/json/text-position.ts";
import { pointerTo } from "../../../src/core/problem.ts";
import { noop, workflow } from "../job/sketches.ts";

const definition = `{
  "workflowName": "orders",
  "steps": [
    { "name": "first", "retries": 3 },
\t{ "na\\u006de": "sec\\"ond\\u0041\\ud83d\\ude00!", "transitionToStep": null }
  ],
  "definitions": { "a/b": {}, "c~d": [1, [2, "}"], 3.5e1, true] }
}`;

describe("a JSON pointer leads to the place of", () => {
  test.each([
    ["the document", "", "{\n"],
    ["a property, at its key", "/workflowName", '"workflowName"'],
    ["an item, at its value", "/steps/1", '{ "na'],
    ["an unknown field, at its key", "/steps/0/retries", '"retries"'],
    ["a key that is written with an escape", "/steps/1/name", '"na\\u006de"'],
    ["a key that a pointer escapes", "/definitions/a~1b", '"a/b"'],
    ["another one", "/definitions/c~0d", '"c~d"'],
    ["an item behind brackets in a string", "/definitions/c~0d/3", "true"],
    ["an item of an inner list", "/definitions/c~0d/1/1", '"}"'],
    ["a missing field, at the object that lacks it", "/steps/0/transitionToStep", '{ "name": "first"'],
    ["a missing value in a missing value", "/steps/0/integrationDetails/config/eventIds", '{ "name": "first"'],
    ["an item behind the last one, at the list", "/steps/7", "[\n"],
    ["a text, at its key", "/workflowName", '"workflowName"'],
  ])("%s", (_, pointer, at) => {
    const [offset = -1] = offsetsOf(definition, [{ pointer }]);
    expect(definition.slice(offset, offset + at.length)).toBe(at);
  });
});

test("an offset in a string leads to its place in the text, past every escape", () => {
  const decoded = 'sec"ondA😀!';
  const written = ["s", "e", "c", '\\"', "o", "n", "d", "\\u0041", "\\ud83d", "\\ude00", "!", '"'];
  const targets = written.map((_, stringOffset) => ({ pointer: "/steps/1/name", stringOffset }));
  expect(decoded).toHaveLength(written.length - 1);
  const offsets = offsetsOf(definition, targets);
  expect(offsets.map((offset, index) => definition.slice(offset, offset + (written[index]?.length ?? 0)))).toEqual(
    written,
  );
  expect(offsetsOf(definition, [{ pointer: "/steps/1/name", stringOffset: 999 }])).toEqual([offsets.at(-1)]);
});

test("a mistake inside a string has the line and the column of its own character", () => {
  const text = '{\n  "if": "\\"\\u0041\\" == output.nme"\n}';
  const stringOffset = '"A" == output.'.length;
  expect(placeProblems(text, [{ pointer: "/if", detail: "is unknown", stringOffset }])).toEqual([
    { pointer: "/if", detail: "is unknown", line: 2, column: text.indexOf("nme") - 1, offset: text.indexOf("nme") },
  ]);
});

test("if a key occurs twice, the last one counts, and members of the first value are missing", () => {
  const text = '{"a": {"x": 1}, "b": 0, "a": {"y": 2}}';
  const found = offsetsOf(text, [{ pointer: "/a" }, { pointer: "/a/y" }, { pointer: "/a/x" }]);
  const last = text.lastIndexOf('"a"');
  expect(found).toEqual([last, text.indexOf('"y"'), last + '"a": '.length]);
});

test("lines end as in editors, and columns count UTF-16 units", () => {
  const text = 'a\nb\r\nc\r"😀x"';
  expect(positionsOf(text, [text.indexOf("x"), 0, text.indexOf("b"), text.indexOf("c"), text.length])).toEqual([
    { line: 4, column: 4, offset: 10 },
    { line: 1, column: 1, offset: 0 },
    { line: 2, column: 1, offset: 2 },
    { line: 3, column: 1, offset: 5 },
    { line: 4, column: 6, offset: 12 },
  ]);
});

/** Returns the JSON text of a value, with `space()` between its parts, and the position in the text to which each pointer leads. */
function writtenBy(value: JsonValue, space: () => string): { text: string; places: Map<string, number> } {
  const places = new Map<string, number>();
  let text = space();
  const write = (part: JsonValue, pointer: string): void => {
    if (!places.has(pointer)) places.set(pointer, text.length);
    if (typeof part !== "object" || part === null) text += JSON.stringify(part);
    else if (Array.isArray(part)) {
      writeAll("[", "]", part, (item, index) => write(item, pointerTo(pointer, index)));
    } else {
      writeAll("{", "}", Object.entries(part), ([key, item]) => {
        places.set(pointerTo(pointer, key), text.length);
        text += `${JSON.stringify(key)}${space()}:${space()}`;
        write(item, pointerTo(pointer, key));
      });
    }
    text += space();
  };
  const writeAll = <Item>(open: string, close: string, items: Item[], each: (item: Item, index: number) => void) => {
    text += open + space();
    items.forEach((item, index) => {
      each(item, index);
      if (index < items.length - 1) text += `,${space()}`;
    });
    text += close;
  };
  write(value, "");
  return { text, places };
}

test("every pointer into any document is found, in any layout", () => {
  const spaces = fc.array(fc.constantFrom("", "", " ", "\n", "\r\n", "\t "), { minLength: 1, maxLength: 7 });
  const property = fc.property(fc.jsonValue({ maxDepth: 4 }), spaces, (value, layout) => {
    let count = 0;
    const { text, places } = writtenBy(value as JsonValue, () => layout[count++ % layout.length] ?? "");
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    const pointers = [...places.keys()].filter((pointer) => !pointer.includes("__proto__"));
    expect(
      offsetsOf(
        text,
        pointers.map((pointer) => ({ pointer })),
      ),
    ).toEqual(pointers.map((pointer) => places.get(pointer)));
  });
  fc.assert(property, { numRuns: tries(1_000) });
});

describe("a problem of a definition says its line, column and offset", () => {
  const placesOf = (text: string) => {
    const parsed = parseDefinition(text, catalog, limits);
    return "problems" in parsed ? parsed.problems : [];
  };

  test("a problem of syntax has its place", () => {
    const text = '{\n  "workflowName": "a",\n  "steps": [,]\n}';
    expect(placesOf(text)).toMatchObject([{ pointer: "", line: 3, column: 13, offset: text.indexOf(",]") }]);
    expect(placesOf("")).toMatchObject([{ line: 1, column: 1, offset: 0 }]);
    expect(placesOf("\n{")).toMatchObject([{ line: 2, column: 2, offset: 2 }]);
    expect(placesOf('{"workflowName":\n "a\\u0000"}')).toMatchObject([
      { pointer: "/workflowName", line: 2, column: 2 },
    ]);
    expect(placesOf(`${" ".repeat(600_000)}`)).toMatchObject([{ line: 1 }]);
  });

  test("a problem of content has its place", () => {
    const text = JSON.stringify(workflow([noop("a", ["any", "any"], "nowhere", { retries: 3 })]), undefined, 2);
    const offset = text.indexOf('"transitionToStep"');
    const line = text.slice(0, offset).split("\n").length;
    expect(placesOf(text)).toContainEqual(
      expect.objectContaining({ pointer: "/steps/0/transitionToStep", line, column: 7, offset }),
    );
    expect(placesOf(text)).toContainEqual(
      expect.objectContaining({ pointer: "/steps/0/retries", offset: text.indexOf('"retries"') }),
    );
  });

  test("every repeated key in an object is reported with its place, together with all other problems", () => {
    const text = `{"workflowName": "a", "steps": [], "steps": [],\n "definitions": {"x": {"type": "string", "t\\u0079pe": "null"}}}`;
    expect(placesOf(text)).toMatchObject([
      { pointer: "/steps", detail: expect.stringContaining("occurs twice"), offset: text.lastIndexOf('"steps"') },
      { pointer: "/definitions/x/type", line: 2, offset: text.indexOf('"t\\u0079pe"') },
      { pointer: "/steps", detail: "must have one step or more", offset: text.lastIndexOf('"steps"') },
    ]);
  });

  test("a registered version with a repeated key is still read in the same way", () => {
    const sound = JSON.stringify(workflow([noop("a", ["any", "any"], null)]));
    const text = sound.replace("{", '{"workflowName": "before",');
    expect(parseDefinition(text, catalog, limits)).toHaveProperty("problems");
    expect(parseDefinition(text, catalog, limits, currentLanguage)).toMatchObject({
      definition: { workflowName: "order-approval" },
    });
  });
});

test("a thousand problems at the end of half a megabyte are located in the time of a few parses", () => {
  const filler = `"${"\\u0041\\n".repeat(20_000)}"`;
  const items = Array.from({ length: 20_000 }, (_, index) => `{"k": ${index}}`).join(",\n");
  const text = `{"filler": ${filler}, "items": [${items}], "long": ${filler}}`;
  const deep = Array.from({ length: 500 }, (_, index) => ({ pointer: `/items/${19_999 - index}/k`, detail: "" }));
  const inside = Array.from({ length: 500 }, (_, index) => ({
    pointer: "/long",
    detail: "",
    stringOffset: 39_999 - index,
  }));
  let placed: ReturnType<typeof placeProblems> = [];
  const cpuMs = onceCpuMsOf(() => {
    placed = placeProblems(text, [...deep, ...inside]);
  });
  expect(placed[0]).toMatchObject({ line: 20_000, column: 2 });
  expect(placed.at(-1)?.line).toBe(20_000);
  // This takes some 10 ms; reading the text for each problem would take seconds.
  expect(cpuMs).toBeLessThan(timeLimit(300));
});
