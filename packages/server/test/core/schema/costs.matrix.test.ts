import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { costlyChecks, costlyPatterns } from "@stepwell/testing/costly/checks.ts";
import { costlyDefinitions, costlyExpressions, largestWithExpressions } from "@stepwell/testing/costly/definitions.ts";
import { expectCpuBelow } from "@stepwell/testing/time/cpu-bound.ts";
import fc from "fast-check";
import { RE2Set } from "re2js";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import { compilePlan } from "../../../src/core/plan/plan.ts";
import { ProblemList } from "../../../src/core/problem.ts";
import { anything } from "../../../src/core/schema/node.ts";
import { compiled } from "../../../src/core/schema/patterns/matcher.ts";
import { readPattern } from "../../../src/core/schema/patterns/pattern.ts";
import { maxPatternWork } from "../../../src/core/schema/patterns/pattern-book.ts";
import { sizeOfPattern } from "../../../src/core/schema/patterns/pattern-size.ts";
import { checkValue, parseSchemas } from "../../../src/core/schema/schema.ts";

/** Each check takes less than 50 ms of computing on a current machine. These tests look for defects that let a check take seconds. */
const boundMs = 150;

const definitions = costlyDefinitions();
const expressions = costlyExpressions();

describe("a check ends quickly for every schema", () => {
  test.each(costlyChecks().map(({ name, ...check }) => [name, check] as const))("%s", (_, { schema: raw, value }) => {
    // The schema is parsed like that of a registered version, so that no other bound applies.
    const schema = parseSchemas({ raw }, "", new ProblemList(1), true).get("raw") ?? anything;
    // If a value fitted in the previous check, it is not checked again. So each run checks another value in between.
    expectCpuBelow(boundMs, () => [checkValue(anything, null), checkValue(schema, value)]);
  });
});

describe("a pattern that is costlier than its text suggests is rejected or compiles quickly", () => {
  test.each(costlyPatterns().map((pattern) => [pattern.slice(0, 40), pattern] as const))("%s", (_, pattern) => {
    const definition = { workflowName: "w", steps: [], definitions: { subject: { pattern } } };
    const text = JSON.stringify(definition);
    expectCpuBelow(boundMs, () => parseDefinition(text, catalog, limits));
    const { work } = readPattern(pattern);
    // The text differs each time, because a pattern that was compiled before costs nothing.
    let run = 0;
    if (work <= maxPatternWork) expectCpuBelow(boundMs, () => compiled(`${pattern}|${run++}`, work));
  });

  test("many costly patterns are rejected or compile quickly", () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`d${index}`, { pattern: `(?i)[${"Ā-𞥃".repeat(200)}]${index}` }]),
    );
    const text = JSON.stringify({ workflowName: "w", steps: [], definitions });
    const parsed = parseDefinition(text, catalog, limits);
    expect("problems" in parsed && parsed.problems[0]?.detail).toContain("wide ranges after `(?i)`");
    expectCpuBelow(2 * boundMs, () => parseDefinition(text, catalog, limits));
  });
});

test("no pattern compiles to more instructions and ranges than are counted in its text", () => {
  const parts = fc.constantFrom(
    ...["a", "é", "[a-c]", "[^x]", "(", "(?:", ")", "*", "+", "?", "|", "{2}", "{3,7}", "{0,4}", "{2,}", "\\d", "\\pL"],
    ...[
      "\\P{Greek}",
      "\\b",
      "^",
      "$",
      ".",
      "[a-z0-9_.-]",
      "[[:alpha:]\\pN]",
      "(?i)",
      "(?i:",
      "\\x{10FFFF}",
      "[A-Zé-ü]",
    ],
  );
  const property = fc.property(fc.array(parts, { minLength: 1, maxLength: 14 }), (pieces) => {
    const source = pieces.join("");
    const set = new RE2Set(RE2Set.UNANCHORED, 0, 1);
    try {
      set.add(source);
    } catch {
      return;
    }
    set.compile();
    const { instructions, ranges } = sizeOfPattern(source);
    const rangeCount = set.prog.inst.reduce((sum: number, { runes }) => sum + runes.length / 2, 0);
    expect(set.prog.numInst(), source).toBeLessThanOrEqual(instructions);
    expect(rangeCount, source).toBeLessThanOrEqual(ranges + 1);
  });
  fc.assert(property, { numRuns: 5_000 });
});

describe("a valid definition compiles quickly", () => {
  test.each([...definitions, ...expressions])("%s", (_, definition) => {
    const text = JSON.stringify(definition);
    if ("problems" in parseDefinition(text, catalog, limits)) return;
    const compile = () => {
      const registered = parseDefinition(text, catalog, limits, currentLanguage);
      if ("definition" in registered) compilePlan(registered.definition);
    };
    expectCpuBelow(boundMs, compile);
  });
});

describe("the expressions of a definition are checked in bounded time", () => {
  test.each([...expressions])("%s", (_, definition) => {
    const text = JSON.stringify(definition);
    expectCpuBelow(4 * boundMs, () => parseDefinition(text, catalog, limits));
  });

  test("a definition of almost 512 KiB with five hundred steps, each with fifteen expressions, is checked completely and compiles quickly", () => {
    const text = JSON.stringify(largestWithExpressions());
    expect(Buffer.byteLength(text)).toBeGreaterThan(480_000);
    const { warnings, ...parsed } = parseDefinition(text, catalog, limits);
    expect(parsed).toHaveProperty("definition");
    expect(warnings).toEqual([]);
    expectCpuBelow(4 * boundMs, () => parseDefinition(text, catalog, limits));
    const compile = () => {
      const registered = parseDefinition(text, catalog, limits, currentLanguage);
      return "definition" in registered && compilePlan(registered.definition);
    };
    expectCpuBelow(2 * boundMs, compile);
  });

  test("a new definition is rejected if its expressions take too long to read", () => {
    const text = JSON.stringify(expressions.get("a hundred thousand expressions"));
    const parsed = parseDefinition(text, catalog, limits);
    const [problem] = "problems" in parsed ? parsed.problems : [];
    expect(problem?.detail).toContain("a definition may have 80000");
    expect(parseDefinition(text, catalog, limits, currentLanguage)).toHaveProperty("definition");
  });

  test("an expression that always fails is reported, even if only a part of the definition is checked", () => {
    const text = JSON.stringify(expressions.get("names that are misspelt"));
    const parsed = parseDefinition(text, catalog, limits);
    const [problem] = "problems" in parsed ? parsed.problems : [];
    expect(problem?.detail).toContain("the schema does not allow the property");
    expect(parsed.warnings.map(({ detail }) => detail)).toContainEqual(expect.stringContaining("only in part"));
  });

  test("an expression that always fails is reported once, whether its step was checked before or after the limit of work was reached", () => {
    const definition = structuredClone(definitions.get("five hundred steps with nine thousand properties"));
    const steps = (definition as unknown as { steps: object[] }).steps;
    for (const index of [0, steps.length - 1])
      Object.assign(steps[index] ?? {}, { input: { a: "${ steps.nobody.output }" } });
    const parsed = parseDefinition(JSON.stringify(definition), catalog, limits);
    expect("problems" in parsed && parsed.problems.map(({ pointer }) => pointer)).toEqual([
      "/steps/0/input/a",
      `/steps/${steps.length - 1}/input/a`,
    ]);
    expect(parsed.warnings.map(({ detail }) => detail)).toContainEqual(expect.stringContaining("only in part"));
  });
});

test.each([
  ["waits that share events and properties", "make more than 200000 combinations"],
  ["eighty waits, each with payload definitions for eighty events", "make more than 200000 combinations"],
  ["a large allowed object", "too large together"],
])("a new definition with %s is rejected, and a registered one still compiles", (name, words) => {
  const text = JSON.stringify(definitions.get(name));
  const parsed = parseDefinition(text, catalog, limits);
  expect("problems" in parsed && parsed.problems[0]?.detail).toContain(words);
  const registered = parseDefinition(text, catalog, limits, currentLanguage);
  expect("definition" in registered && compilePlan(registered.definition).workflowName).toBe("costly");
});

test("a registered version is not checked against limits", () => {
  const sizes = { maxDefinitionBytes: 1, maxNameLength: 1, maxDepth: 2, maxOutputBytes: 1 };
  const strict = { ...sizes, maxSteps: 1, maxEventIdsPerStep: 1 };
  const eventIds = ["approved", "declined"];
  const wait = { type: "/service/waitForEventIds", config: { eventIds } };
  const reference = { $ref: "#/definitions/any" };
  const steps = ["first", "second"].map((name, index) => ({
    name,
    integrationDetails: { ...wait, inputDefinition: reference, outputDefinition: reference },
    transitionToStep: index === 0 ? "second" : null,
  }));
  const definitions = { any: {}, counted: { pattern: "[ab]{900}[ab]{900}" } };
  const text = JSON.stringify({ workflowName: "order", steps, definitions });
  expect(parseDefinition(text, catalog, strict)).toHaveProperty("problems");
  const registered = parseDefinition(text, catalog, strict, currentLanguage);
  expect("definition" in registered && registered.definition.steps[1]?.work).toMatchObject({ rule: { eventIds } });
});
