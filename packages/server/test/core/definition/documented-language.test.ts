import { readFileSync } from "node:fs";
import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { formatNames } from "../../../src/core/schema/formats/format.ts";
import { annotations, assertions } from "../../../src/core/schema/parse/vocabulary.ts";
import { noop } from "../job/sketches.ts";

const docs = new URL("../../../../../docs/", import.meta.url);
const definitions = readFileSync(new URL("definitions.md", docs), "utf8");
const executors = readFileSync(new URL("executors.md", docs), "utf8");

test("docs/definitions.md names each keyword and each format that schemas may use, and no other", () => {
  const [, table = ""] = /^\| about \| keywords \|\n((?:\|.*\n)+)/m.exec(definitions) ?? [];
  const named = [...table.matchAll(/`([\w$-]+)`/g)].map(([, word]) => word);
  expect(named.toSorted()).toEqual([...assertions, ...annotations, ...formatNames()].toSorted());
});

const steps = [...executors.matchAll(/^```json\n([\s\S]*?)^```$/gm)]
  .map(([, block = ""]) => JSON.parse(block) as JsonObject)
  .filter((block) => "integrationDetails" in block);

test("the steps in docs/executors.md can be registered unchanged, in a definition that has the steps and schemas to which they refer", () => {
  expect(steps.length).toBeGreaterThan(1);
  for (const step of steps) {
    const names = [...JSON.stringify(step).matchAll(/#\/definitions\/([\w-]+)/g)].map(([, name]) => name);
    const text = JSON.stringify({
      workflowName: "documented",
      steps: [step, ...stepsAfter(step).map((name) => noop(name, ["any", "any"], null))],
      definitions: Object.fromEntries(["any", ...names].map((name) => [name, {}])),
    });
    expect(parseDefinition(text, catalog, limits)).not.toHaveProperty("problems");
  }
});

function stepsAfter({ transitionToStep = null, onFailure = null, integrationDetails }: JsonObject): string[] {
  const { branches = {}, step = null } = ((integrationDetails as JsonObject).config ?? {}) as JsonObject;
  const names = [transitionToStep, onFailure, step, ...Object.values(branches as JsonObject)];
  return names.filter((name) => typeof name === "string");
}
