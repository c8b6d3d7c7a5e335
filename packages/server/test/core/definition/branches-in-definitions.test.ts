import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, forEach, noop, parallel, type StepSketch, textOf, transform } from "../job/jobs.ts";

/** The pointers and details of all errors and warnings. */
function findings(steps: readonly StepSketch[], definitions: Record<string, JsonObject> = {}) {
  const parsed = parseDefinition(textOf(steps, definitions), catalog, limits);
  const shown = (list: readonly { pointer: string; detail: string }[]) =>
    list.map(({ pointer, detail }) => `${pointer} ${detail}`);
  return { problems: "problems" in parsed ? shown(parsed.problems) : [], warnings: shown(parsed.warnings) };
}

const split = (branches: Record<string, string>, next: string | null = null) => parallel("split", branches, next);
const each = (items: string, more: JsonObject = {}, next: string | null = null) =>
  forEach("each", { items, step: "work", ...more }, next);

const long = (level: number) => "ж".repeat(100) + level;

describe("a definition with branches is refused", () => {
  test.each<[name: string, steps: readonly StepSketch[], problem: string]>([
    [
      "where a branch begins at an unknown step",
      [split({ left: "aa" }), noop("a", null)],
      "/steps/0/integrationDetails/config/branches/left there is no step `aa`",
    ],
    [
      "where a branch leads on to the main line",
      [split({ left: "a" }, "end"), noop("a", "end"), noop("end", null)],
      "/steps/1/transitionToStep `end` is on the main line, and `a` in the branch `left` of `split`; a branch ends with the transition null, and then the job continues after `split`",
    ],
    [
      "where the main line leads into a branch",
      [{ ...split({ left: "a" }), transitionToStep: "b" }, noop("a", "b"), noop("b", null)],
      "/steps/1/transitionToStep `b` is on the main line, and `a` in the branch `left` of `split`; a branch ends with the transition null, and then the job continues after `split`",
    ],
    [
      "where a failure leads from one branch to another",
      [split({ left: "a", right: "b" }), noop("a", null, { onFailure: "b" }), noop("b", null)],
      "/steps/0/integrationDetails/config/branches/right `b` is in the branch `left` of `split` already; each branch has steps of its own, and only `split` may lead to the first steps of its branches",
    ],
    [
      "where two branches begin at one step",
      [split({ left: "a", right: "a" }), noop("a", null)],
      '/steps/0/integrationDetails/config/branches "left" and "right" begin at the same step; let each begin at a step of its own',
    ],
    [
      "where a step is in no branch",
      [split({ left: "a" }), noop("a", null), noop("b", null)],
      "/steps/2 `b` can never be reached: no path leads to it from `split`, the first step",
    ],
    [
      "where a branch never ends",
      [split({ left: "a" }), noop("a", "b"), noop("b", "a")],
      "/steps/1/transitionToStep from `a` no path leads to the end, so a job can never end from there; give this step, or a step that comes after it, the transition null",
    ],
    [
      "where a fork contains itself",
      [split({ left: "a" }), noop("a", "split")],
      "/steps/1/transitionToStep `split` is on the main line, and `a` in the branch `left` of `split`; a branch ends with the transition null, and then the job continues after `split`",
    ],
    [
      "where nested names are too long for the path in the store",
      [
        ...Array.from({ length: 5 }, (_, level) =>
          parallel(long(level), { [long(level)]: level === 4 ? "last" : long(level + 1) }, null),
        ),
        noop("last", null),
      ],
      `/steps/4/name the path of a branch contains the names of all forks and branches around it; here it can have 2074 bytes, but 2000 are allowed; give shorter names, or nest less`,
    ],
    [
      "where the nesting is more than five levels deep",
      [
        ...Array.from({ length: 6 }, (_, index) => parallel(`p${index}`, { one: `p${index + 1}` }, null)),
        noop("p6", null),
      ],
      "/steps/5 `p5` is nested in 5 branches already, and deeper nesting is not allowed",
    ],
    [
      "where more than a thousand branches may be open",
      [
        forEach("outer", { items: [1], step: "each", concurrency: 50 }, null),
        forEach("each", { items: [1], step: "work", concurrency: 20 }, null),
        noop("work", null),
      ],
      "/steps with these parallel steps, and this concurrency of the forEach steps, a job could have 1050 branches open at once; 1000 are allowed. Lower a `concurrency`, or nest less",
    ],
    [
      "where a fork has a retry",
      [{ ...split({ left: "a" }), retry: { maxAttempts: 2 } }, noop("a", null)],
      "/steps/0/retry a step of type `/service/parallel` is not tried again as a whole; give `retry` to the steps of its branches",
    ],
    [
      "where a fork has a timeout",
      [{ ...split({ left: "a" }), timeoutSeconds: 5 }, noop("a", null)],
      "/steps/0/timeoutSeconds a step of type `/service/parallel` ends with its branches, whose steps have timeouts of their own, so it has no timeout; leave out `timeoutSeconds`",
    ],
    [
      "where `maxFailures` is set, but failures are not collected",
      [each("${ [1] }", { maxFailures: 1 }), noop("work", null)],
      '/steps/0/integrationDetails/config/maxFailures has an effect only when failures are collected; set `onItemFailure` to "collect", or leave `maxFailures` out',
    ],
    [
      "where an expression outside names a step of a branch",
      [split({ left: "a" }, "end"), noop("a", null), transform("end", "${ steps.a.output }", null)],
      "/steps/2/input `steps.a.output` names no step that can be read here; `a` runs inside of `split`; from here, only the output of `split` can be read",
    ],
    [
      "where an expression outside of a body reads its item",
      [each("${ [1] }"), noop("work", null, { mapping: { output: "${ forks.other.item }" } })],
      "/steps/1/output `forks.other.item` names no forEach step around this one",
    ],
    [
      "where an expression in no body reads an item",
      [transform("a", "${ item }", null)],
      "/steps/0/input `item` is there only in the body of a forEach",
    ],
    [
      "where an expression after a forEach reads the index of an item",
      [each("${ [1] }", {}, "end"), noop("work", null), transform("end", "${ index }", null)],
      "/steps/2/input `index` is there only in the body of a forEach",
    ],
    [
      "where an expression in a body reads the output of its own forEach",
      [each("${ [1] }"), transform("work", "${ steps.each.output }", null)],
      "/steps/1/input `steps.each.output` is never there at this point of the job",
    ],
    [
      "where an expression misspells the forEach around it",
      [each("${ [1] }"), noop("work", null, { mapping: { output: "${ forks.eech.item }" } })],
      "/steps/1/output `forks.eech.item` names no forEach step around this one; did you mean `each`?",
    ],
    [
      "where the body of a forEach begins at the step that follows the forEach",
      [each("${ [1] }", {}, "work"), noop("work", null)],
      "/steps/0/integrationDetails/config/step `work` is on the main line already; each branch has steps of its own, and only `each` may lead to the first steps of its branches",
    ],
    [
      "where a body has its own forEach in it",
      [each("${ [1] }", { step: "each" }), noop("work", null)],
      "/steps/0/integrationDetails/config/step `each` is on the main line already; each branch has steps of its own, and only `each` may lead to the first steps of its branches",
    ],
    [
      "where a failure leads out of a body",
      [each("${ [1] }", {}, "end"), noop("work", null, { onFailure: "end" }), noop("end", null)],
      "/steps/1/onFailure `end` is on the main line, and `work` in the body of `each`; a branch ends with the transition null, and then the job continues after `each`",
    ],
    [
      "where a body begins at a step that is misspelt",
      [each("${ [1] }", { step: "wrok" }), noop("work", null)],
      "/steps/0/integrationDetails/config/step there is no step `wrok`; did you mean `work`?",
    ],
    [
      "where the body is missing",
      [forEach("each", { items: [1] }, null)],
      "/steps/0/integrationDetails/config/step is required",
    ],
    [
      "where `until` has an unknown value",
      [parallel("split", { left: "a" }, null, { until: "first" as "any" }), noop("a", null)],
      '/steps/0/integrationDetails/config/until must be "all" or "any"',
    ],
    [
      "where branches have no names",
      [{ ...split({}), config: { branches: ["a"] } }, noop("a", null)],
      "/steps/0/integrationDetails/config/branches must be an object, but is an array",
    ],
    [
      "where there are no branches",
      [split({}), noop("a", null)],
      "/steps/0/integrationDetails/config/branches must have at least 1 property",
    ],
    [
      "where a list is meant to be an expression",
      [each("input.orders"), noop("work", null)],
      "/steps/0/integrationDetails/config/items must be an array, but is a string; an expression is written as in `${ input.name }`",
    ],
    [
      "where an expression stands in a number field that takes none",
      [each("${ [1] }", { concurrency: "${ 1 }" }), noop("work", null)],
      "/steps/0/integrationDetails/config/concurrency must be an integer, but is a string; no expression may stand here",
    ],
    [
      "where the list in the definition is too long",
      [forEach("each", { items: Array.from({ length: 10_001 }, () => 1), step: "work" }, null), noop("work", null)],
      "/steps/0/integrationDetails/config/items must have at most 10000 items",
    ],
    [
      "where a field of the config has its name from another language",
      [each("${ [1] }", { MaxConcurrency: 2 }), noop("work", null)],
      "/steps/0/integrationDetails/config/MaxConcurrency is not a property that is allowed here; `MaxConcurrency` is `concurrency` here",
    ],
    [
      "where a field of the config is misspelt",
      [each("${ [1] }", { maxFailure: 2, onItemFailure: "collect" }), noop("work", null)],
      "/steps/0/integrationDetails/config/maxFailure is not a property that is allowed here; did you mean `maxFailures`?",
    ],
    [
      "where `items` gives no list",
      [each("${ 'a' }"), noop("work", null)],
      '/steps/0/integrationDetails/config/items is "a", which does not fit (must be an array, but is a string)',
    ],
  ])("%s", (_name, steps, problem) => {
    expect(findings(steps).problems).toContain(problem);
  });
});

const order = {
  type: "object",
  properties: { sku: { type: "string" } },
  required: ["sku"],
  additionalProperties: false,
};
const definitions = {
  orders: { type: "object", properties: { orders: { type: "array", items: order } }, required: ["orders"] },
  order,
  count: { type: "object", properties: { count: { type: "number" } }, required: ["count"] },
};

describe("the data flow of a definition with branches", () => {
  test("knows the type of an item", () => {
    const work = { mapping: { output: { sku: "${ item.sku }" } }, input: "order", output: "order" };
    const steps = [{ ...each("${ input.orders }"), input: "orders" }, noop("work", null, work)];
    expect(findings(steps, definitions)).toEqual({ problems: [], warnings: [] });
    const wrong = [{ ...each("${ input.orders }"), input: "orders" }, noop("work", null, { input: "count" })];
    expect(findings(wrong, definitions).problems).toEqual([
      expect.stringContaining("/steps/1/integrationDetails/inputDefinition"),
    ]);
    const misread = { mapping: { output: { sku: "${ item.skuu }" } } };
    const misreading = [{ ...each("${ input.orders }"), input: "orders" }, noop("work", null, misread)];
    expect(findings(misreading, definitions).problems).toEqual([expect.stringContaining("item.skuu")]);
  });

  test("knows the output of a parallel step, and that a later step receives it", () => {
    const steps = (name: string) => [
      split({ left: "a", right: "b" }, "end"),
      noop("a", null, { output: "count", mapping: { output: { count: 1 } } }),
      noop("b", null),
      transform("end", { got: `\${ steps.split.output.left.${name} }` }, null),
    ];
    expect(findings(steps("count"), definitions)).toEqual({ problems: [], warnings: [] });
    const misfit = [split({ left: "a" }, "end"), noop("a", null), noop("end", null, { input: "count" })];
    expect(findings(misfit, definitions).problems).toEqual([expect.stringContaining("/steps/2/integrationDetails")]);
  });

  test("lets a closed step of a branch take properties from outside of the branch", () => {
    const first = noop("first", "split", { input: "order", output: "order" });
    const steps = [first, split({ left: "a" }), noop("a", null, { input: "order" })];
    expect(findings(steps, definitions)).toEqual({ problems: [], warnings: [] });
  });

  test("knows the output of a template at the end of a branch, and the number of items in a list", () => {
    const body = transform("work", { sku: "${ item.sku }", place: "${ index }" }, null);
    const report = transform("end", { first: "${ steps.each.output[0].place + 1 }" }, null);
    const one = [{ ...each("${ [{'sku': 'a'}] }", {}, "end") }, body, report];
    expect(findings(one, definitions)).toEqual({ problems: [], warnings: [] });
    const perhapsNone = [{ ...each("${ input.orders }", {}, "end"), input: "orders" }, body, report];
    expect(findings(perhapsNone, definitions).warnings).toEqual([expect.stringContaining("may have no item")]);
  });

  test("compares the outputs of the branches with the output definition of their fork", () => {
    const number = noop("a", null, { mapping: { output: 1 } });
    expect(findings([{ ...split({ left: "a" }), output: "count" }, number], definitions).problems).toEqual([
      "/steps/0/integrationDetails/outputDefinition the output of `split` consists of what its branches give; its `count` is missing, but is required",
    ]);
    const work = noop("work", null, { mapping: { output: 1 } });
    const texts = { texts: { type: "array", items: { type: "string" } } };
    expect(findings([{ ...each("${ [1] }"), output: "texts" }, work], texts).problems).toEqual([
      "/steps/0/integrationDetails/outputDefinition the output of `each` consists of what its items give; its `0` is 1, which does not fit (must be a string, but is a number)",
    ]);
    const numbers = { numbers: { type: "array", items: { type: "number" } } };
    expect(findings([{ ...each("${ [1] }"), output: "numbers" }, work], numbers)).toEqual({
      problems: [],
      warnings: [],
    });
  });

  test("knows the child job whose failure failed a branch", () => {
    const why = "${ has(error.cause.jobId) ? error.cause.jobId + error.cause.message : error.message }";
    const steps = [{ ...split({ left: "a" }), onFailure: "end" }, noop("a", null), transform("end", why, null)];
    expect(findings(steps)).toEqual({ problems: [], warnings: [] });
  });

  test("distinguishes items that succeeded from items that failed in the collected results of a list", () => {
    const work = transform("work", { sku: "${ item }" }, null);
    const report = transform(
      "end",
      {
        skus: "${ steps.each.output.map(one, has(one.output), one.output.sku) }",
        why: "${ steps.each.output.map(one, has(one.error), one.error.code + one.error.step) }",
      },
      null,
    );
    const steps = [each("${ ['a'] }", { onItemFailure: "collect" }, "end"), work, report];
    expect(findings(steps)).toEqual({ problems: [], warnings: [] });
  });
});

describe("a list of the outputs of items", () => {
  const schemas = (maxItems: number | undefined, output: JsonObject) => ({
    list: {
      type: "object",
      properties: { items: { type: "array", ...(maxItems !== undefined && { maxItems }) } },
      required: ["items"],
    },
    output,
  });
  const text = (bounds: JsonObject) => ({ type: "string", ...bounds });
  const warningsOf = (maxItems: number | undefined, output: JsonObject, more: JsonObject = {}) => {
    const steps = [{ ...each("${ input.items }", more), input: "list" }, call("work", null, { output: "output" })];
    return findings(steps, schemas(maxItems, output)).warnings;
  };

  test.each<[string, number, JsonObject, string]>([
    [
      "whose outputs are as large as they may be",
      5_000,
      text({ maxLength: 500 }),
      "may give 5000 outputs, each of up to 502 bytes",
    ],
    [
      "whose outputs have no bound and are large in any case",
      10_000,
      text({ minLength: 200 }),
      "may give 10000 outputs, each of 202 bytes or more",
    ],
  ])("%s causes a warning when it is too large for an output", (_, maxItems, output, words) => {
    expect(warningsOf(maxItems, output)).toEqual([
      `/steps/0/integrationDetails/config \`each\` ${words}; with a list of more than 1048576 bytes it fails with \`OutputTooLarge\`. Give less for each item, or set \`"output": "counts"\``,
    ]);
    expect(warningsOf(maxItems, output, { output: "counts" })).toEqual([]);
  });

  test.each<[string, number | undefined, JsonObject]>([
    ["fits", 2_000, text({ maxLength: 500 })],
    ["has any number of items", undefined, text({ maxLength: 500 })],
    ["has outputs of an unknown type", 10_000, {}],
    ["has outputs that may be small", 10_000, text({})],
  ])("a list that %s causes no warning", (_, maxItems, output) => {
    expect(warningsOf(maxItems, output)).toEqual([]);
  });

  test("causes a warning where it is too large for every input", () => {
    const items = Array.from({ length: 6_000 }, () => 1);
    const steps = [forEach("each", { items, step: "work" }, null), call("work", null, { output: "output" })];
    expect(findings(steps, { output: text({ minLength: 200 }) }).warnings).toEqual([
      expect.stringContaining("`each` gives 6000 outputs or more, each of 202 bytes or more;"),
    ]);
  });
});
