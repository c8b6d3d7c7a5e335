import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { functions, signatureOf } from "../../../src/core/expression/expression.ts";
import { outcomeOf, scopeOf } from "./scopes.ts";

const document = readFileSync(new URL("../../../../../docs/definitions.md", import.meta.url), "utf8");
const section = document.slice(document.indexOf("## Expressions"), document.indexOf("## What registering checks"));
const examples = (section.split("```")[1] ?? "")
  .trim()
  .split("\n")
  .map((line) => line.split(/ {2,}| (?=false$)/));
const rows = section.split("\n").flatMap((line) => {
  const [signature, summary, example] = line.slice(2, -2).split(" | ");
  return line.startsWith("| `") && example !== undefined ? [{ signature, summary, example }] : [];
});

describe("an example of the documentation gives the documented value", () => {
  const scope = scopeOf({ input: { count: 3, name: "Ann", list: [1, 2, 3] } });
  test.each(examples)("%s", (source, value) => {
    expect(outcomeOf(source as string, scope)).toEqual(JSON.parse(value as string));
  });
});

test("the documentation has the current table of the functions", () => {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  expect(rows).toEqual(
    functions.map((called) => ({
      signature: `\`${cell(signatureOf(called))}\``,
      summary: cell(called.summary),
      example: `\`${cell(called.example[0])}\` is \`${cell(JSON.stringify(called.example[1]))}\``,
    })),
  );
});

test("the documentation names the functions that cannot be written as methods", () => {
  const only = functions
    .filter(({ forms, name }) => forms === "function" && !name.startsWith("base64."))
    .map(({ name }) => name);
  const sentence = section.match(/can be written both ways.*except (.*)\./)?.[1] ?? "";
  expect([...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(only.sort());
});
