import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import * as jobs from "../job/jobs.ts";
import { type StepSketch, Story } from "../job/jobs.ts";
import { call, closed, noop, parse, text, wait, workflow } from "../job/sketches.ts";

const any = ["any", "any"] as const;

function problemsOf(onFailure: JsonValue) {
  return parse(
    workflow([call("a", any, null, { onFailure }), noop("b", any, null), noop("c", any, null)]),
  ).problems.filter(({ pointer }) => pointer.startsWith("/steps/0"));
}

describe("a list in `onFailure` is rejected if it", () => {
  test.each<[string, JsonValue, string, string]>([
    ["is empty", [], "", "has no entry"],
    ["has a name for an entry", ["b"], "/0", 'must be {"on": [errors], "then": step}, but is a string'],
    ["has an entry without a step", [{ on: ["X"] }], "/0/then", "is required: the name of the step"],
    ["names an unknown step", [{ then: "d" }], "/0/then", "there is no step `d`"],
    ["names the step itself", [{ then: "a" }], "/0/then", "cannot take over after its own failure"],
    ["has an unknown field", [{ when: ["X"], then: "b" }], "/0/when", "is not a field of an entry of `onFailure`"],
    ["has no error in `on`", [{ on: [], then: "b" }], "/0/on", "leave `on` out to mean every error"],
    ["has a wildcard", [{ on: ["States.ALL"], then: "b" }], "/0/on/0", "leave `on` out to mean every error"],
    [
      "names an error that no step handles",
      [{ on: ["StepLimitExceeded"], then: "b" }],
      "/0/on/0",
      "no step handles it, so remove it",
    ],
    ["takes every failure before its end", [{ then: "b" }, { on: ["X"], then: "c" }], "/0", "put it last"],
    [
      "names one error in two entries",
      [
        { on: ["X", "Y"], then: "b" },
        { on: ["Z", "Y"], then: "c" },
      ],
      "/1/on/1",
      "entry 0 already handles `Y`",
    ],
    ["has too many entries", Array.from({ length: 101 }, (_, index) => ({ on: [`E${index}`], then: "b" })), "", "101"],
  ])("%s", (_, onFailure, pointer, words) => {
    expect(problemsOf(onFailure)).toContainEqual({
      pointer: `/steps/0/onFailure${pointer}`,
      detail: expect.stringContaining(words),
    });
  });

  test("is a number, and the message names both valid forms", () => {
    expect(problemsOf(5)[0]?.detail).toBe(
      'must be the name of the step that a failure leads to, or a list of {"on": [errors], "then": step}, but is a number',
    );
  });
});

describe("each entry of `onFailure` is a way through the graph", () => {
  const handlers = [{ on: ["X"], then: "b" }, { then: "c" }];

  test("a step to which only an entry leads can be reached", () => {
    const steps = [call("a", any, null, { onFailure: handlers }), noop("b", any, null), noop("c", any, null)];
    expect(parse(workflow(steps)).problems).toEqual([]);
  });

  test("a loop can end through any entry", () => {
    const steps = [
      call("a", any, "b"),
      call("b", any, "a", {
        onFailure: [
          { on: ["X"], then: "a" },
          { on: ["Y"], then: "c" },
        ],
      }),
      noop("c", any, null),
    ];
    expect(parse(workflow(steps)).problems).toEqual([]);
  });

  test("the data flow follows each entry, where the output of the failed step is missing", () => {
    const definitions = { none: closed({}), sku: closed({ sku: text }) };
    const steps = [
      call("a", ["none", "sku"], "b", { onFailure: [{ on: ["X"], then: "b" }, { then: "c" }] }),
      call("b", ["sku", "none"], null),
      call("c", ["none", "none"], null),
    ];
    const { warnings } = parse(workflow(steps, definitions));
    expect(warnings).toEqual([
      {
        pointer: "/steps/1/integrationDetails/inputDefinition",
        detail: expect.stringContaining("when `a` has failed"),
      },
    ]);
  });

  test("two entries with the same target count as one way, and cause one warning", () => {
    const definitions = { none: closed({}), sku: closed({ sku: text }) };
    const steps = [
      call("a", ["none", "sku"], "b", { onFailure: [{ on: ["X"], then: "b" }, { then: "b" }] }),
      call("b", ["sku", "none"], null),
    ];
    expect(parse(workflow(steps, definitions)).warnings).toHaveLength(1);
  });
});

describe("after a failure", () => {
  const onFailure = [
    { on: ["OutOfStock", "Timeout"], then: "reorder" },
    { on: ["ExecutorError"], then: "tell" },
  ];
  const steps: StepSketch[] = [
    jobs.call("reserve", null, { onFailure }),
    jobs.wait("reorder", ["x"], null),
    jobs.wait("tell", ["x"], null),
  ];
  const failed = (named: JsonObject) => {
    const story = new Story(steps);
    story.fail("permanent", named);
    return story;
  };

  test.each<[string, JsonObject, string]>([
    ["the entry that names its type takes over", { type: "OutOfStock" }, "reorder"],
    ["the entry that names its code takes over", { code: "Timeout" }, "reorder"],
    ["the first entry that names it takes over", { code: "ExecutorError", type: "OutOfStock" }, "reorder"],
    ["another entry that names it takes over", { code: "ExecutorError", type: "Other" }, "tell"],
  ])("%s", (_, named, next) => {
    const story = failed(named);
    expect(story.step).toMatchObject({ name: next });
    expect(story.entries.find(({ type }) => type === "step.failed")).toMatchObject({ next });
  });

  test("a job fails without a matching entry, as it does without `onFailure`", () => {
    const story = failed({ code: "OutputTooLarge" });
    expect(story.job.state).toMatchObject({ status: "FAILED", error: { code: "OutputTooLarge", step: "reserve" } });
    expect(story.entries.find(({ type }) => type === "step.failed")).not.toHaveProperty("next");
  });

  test("the entry for `Timeout` handles the timeout of a wait", () => {
    const story = new Story([
      { ...jobs.wait("gate", ["go"], null), timeoutSeconds: 5, onFailure: [{ on: ["Timeout"], then: "late" }] },
      jobs.noop("late", null),
    ]);
    story.later(5_000);
    expect(story.status).toBe("SUCCEEDED");
    expect(story.entries.filter(({ type }) => type === "step.started")).toHaveLength(2);
  });
});

test("an entry of `onFailure` is also checked in a wait step", () => {
  const steps = [wait("a", any, null, { onFailure: [{ on: ["Timeout"], then: "x" }] })];
  expect(parse(workflow(steps)).problems).toEqual([
    { pointer: "/steps/0/onFailure/0/then", detail: "there is no step `x`" },
  ]);
});
