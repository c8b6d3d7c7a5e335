import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { compilePlan, type Plan, type PlanStep } from "../../../src/core/plan/plan.ts";
import { call, closed, noop, number, open, parse, text, wait, workflow } from "../job/sketches.ts";

function planOf(steps: readonly JsonValue[], definitions: JsonObject): Plan {
  const { definition, problems } = parse(workflow(steps, { any: {}, empty: closed({}), ...definitions }));
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return compilePlan(definition);
}

function stepOf(plan: Plan, name: string): PlanStep {
  const step = plan.steps.get(name);
  if (step === undefined) throw new Error(`no step ${name}`);
  return step;
}

const sku = {
  sku: closed({ sku: text }),
  both: closed({ sku: text, count: number }),
  count: closed({ count: number }),
};

test("a plan starts with the first step and finds each step by its name", () => {
  const plan = planOf([call("a", ["sku", "count"], "b", { onFailure: "b" }), noop("b", ["any", "any"], null)], sku);
  expect(plan.workflowName).toBe("order-approval");
  expect(plan.firstStep).toBe(stepOf(plan, "a"));
  expect([...plan.steps.keys()]).toEqual(["a", "b"]);
  expect(stepOf(plan, "a")).toMatchObject({
    type: "/service/cloud/function",
    work: { kind: "call", config: { functionName: "a" }, retry: undefined, timeoutMs: undefined },
    next: "b",
    onFailure: [{ step: "b" }],
    inputRule: { kind: "carried", properties: ["sku"] },
  });
  expect(stepOf(plan, "b")).toMatchObject({
    work: { kind: "pass" },
    next: null,
    inputRule: { kind: "whole" },
  });
});

test("a step receives declared properties also if its definition is closed through a $ref", () => {
  const plan = planOf([call("a", ["alias", "any"], null)], { ...sku, alias: { $ref: "#/definitions/both" } });
  expect(plan.firstStep.inputRule).toEqual({ kind: "carried", properties: ["sku", "count"] });
});

describe("a wait step", () => {
  const waiting = (config: JsonObject, more: JsonObject = {}): Plan => {
    const { integrationDetails, ...step } = wait("a", ["any", "any"], null, more);
    return planOf([{ ...step, integrationDetails: { ...(integrationDetails as JsonObject), config } }], {});
  };

  test("waits for the events of its config, and the plan lists their ids", () => {
    const plan = waiting({ eventIds: ["x", "y"], match: "any" });
    expect(plan.firstStep.work).toMatchObject({ kind: "wait", rule: { eventIds: ["x", "y"], requiredCount: 1 } });
    expect([...plan.listedEventIds]).toEqual(["x", "y"]);
  });

  test("has its timeout from its config or from the step, in one field", () => {
    for (const plan of [
      waiting({ eventIds: ["x"], timeoutSeconds: 1.5 }),
      waiting({ eventIds: ["x"] }, { timeoutSeconds: 1.5 }),
    ]) {
      expect(plan.firstStep.work).toMatchObject({ rule: { timeoutMs: 1_500 } });
      expect(plan.firstStep.work).not.toHaveProperty("timeoutMs");
    }
    expect(waiting({ eventIds: ["x"] }).firstStep.work).toMatchObject({
      rule: expect.not.objectContaining({ timeoutMs: expect.anything() }),
    });
  });
});

test("a call keeps its own timeout, and a short timeout is never rounded to none", () => {
  const workOf = (timeoutSeconds: number) =>
    planOf([call("a", ["any", "any"], null, { timeoutSeconds })], {}).firstStep.work;
  expect(workOf(30)).toMatchObject({ timeoutMs: 30_000 });
  expect(workOf(0.0001)).toMatchObject({ timeoutMs: 1 });
});

describe("the properties in the state after a step", () => {
  const liveAfter = (steps: readonly JsonValue[], name: string) =>
    [
      ...stepOf(
        planOf(steps, {
          ...sku,
          perhaps: closed({ sku: text }, []),
          untyped: { required: ["sku"] },
          skus: open({ sku: text }),
        }),
        name,
      ).livePropertiesAfter,
    ].sort();

  test("are only those that a later step takes", () => {
    const steps = [
      call("a", ["both", "both"], "b"),
      call("b", ["any", "empty"], "c"),
      call("c", ["sku", "empty"], null),
    ];
    expect(liveAfter(steps, "a")).toEqual(["sku"]);
    expect(liveAfter(steps, "b")).toEqual(["sku"]);
    expect(liveAfter(steps, "c")).toEqual([]);
  });

  test("do not include one that an output certainly overwrites first", () => {
    const steps = (output: string) => [
      call("a", ["sku", "sku"], "b"),
      call("b", ["any", output], "c"),
      call("c", ["sku", "empty"], null),
    ];
    expect(liveAfter(steps("sku"), "a")).toEqual([]);
    expect(liveAfter(steps("skus"), "a")).toEqual([]);
    expect(liveAfter(steps("perhaps"), "a")).toEqual(["sku"]);
    expect(liveAfter(steps("any"), "a")).toEqual(["sku"]);
    // A value that is not an object also fits `untyped`, and has no properties.
    expect(liveAfter(steps("untyped"), "a")).toEqual(["sku"]);
  });

  test("include one that a handler takes, because a failed step has overwritten nothing", () => {
    const steps = [
      call("a", ["sku", "sku"], "b"),
      call("b", ["any", "sku"], null, { onFailure: "c" }),
      call("c", ["sku", "empty"], null),
    ];
    expect(liveAfter(steps, "a")).toEqual(["sku"]);
    expect(liveAfter(steps, "b")).toEqual(["sku"]);
  });

  test("include one that an earlier step takes again in a loop", () => {
    const steps = [
      call("a", ["sku", "count"], "b"),
      call("b", ["count", "sku"], "a", { onFailure: "c" }),
      call("c", ["empty", "empty"], null),
    ];
    expect(liveAfter(steps, "a")).toEqual(["count"]);
    expect(liveAfter(steps, "b")).toEqual(["sku"]);
    expect(liveAfter(steps, "c")).toEqual([]);
  });

  test("are sets that steps share, since hundreds of steps may have the same set", () => {
    const chain = Array.from({ length: 500 }, (_, index) =>
      call(`s${index}`, ["both", "both"], index < 499 ? `s${index + 1}` : null),
    );
    const plan = planOf(chain, sku);
    expect(new Set([...plan.steps.values()].map((step) => step.livePropertiesAfter)).size).toBe(2);
    expect(new Set([...plan.steps.values()].map((step) => step.inputRule)).size).toBe(1);
  });

  test("are found completely in nested loops, too", () => {
    const stepCount = 400;
    const tangle = Array.from({ length: stepCount }, (_, index) => {
      const target = (index * 173 + 7) % stepCount;
      const more = target === index ? {} : { onFailure: `s${target}` };
      return call(`s${index}`, ["sku", "empty"], index < stepCount - 1 ? `s${index + 1}` : null, more);
    });
    const plan = planOf(tangle, { sku: closed({ sku: text }, []) });
    for (const step of plan.steps.values()) expect(step.livePropertiesAfter.has("sku")).toBe(true);
  });
});

describe("the latest output before a step that is running", () => {
  const keepers = (steps: readonly JsonValue[]) =>
    [...planOf(steps, { sku: closed({ sku: text }, []) }).steps.values()]
      .filter((step) => step.failureReadsLastOutput)
      .map(({ name }) => name);

  test("is kept if its failure leads to a step that receives the whole output", () => {
    const steps = [
      call("a", ["sku", "sku"], "b"),
      call("b", ["sku", "sku"], null, { onFailure: "c" }),
      call("c", ["any", "any"], null),
    ];
    expect(keepers(steps)).toEqual(["b"]);
  });

  test("is kept if only a second failure leads to such a step", () => {
    const steps = [
      call("a", ["sku", "sku"], null, { onFailure: "b" }),
      call("b", ["sku", "sku"], null, { onFailure: "c" }),
      call("c", ["any", "any"], null),
    ];
    expect(keepers(steps)).toEqual(["a", "b"]);
  });

  test("is not kept if the handler takes properties, or there is no handler", () => {
    expect(keepers([call("a", ["any", "any"], null, { onFailure: "b" }), call("b", ["sku", "sku"], null)])).toEqual([]);
    expect(keepers([call("a", ["any", "any"], "b"), call("b", ["any", "any"], null)])).toEqual([]);
  });

  test("is kept in a circle of handlers only if one of them receives the whole output", () => {
    const steps = [
      call("a", ["sku", "sku"], null, { onFailure: "b" }),
      call("b", ["sku", "sku"], null, { onFailure: "a" }),
    ];
    expect(keepers(steps)).toEqual([]);
    expect(
      keepers([
        call("a", ["any", "sku"], null, { onFailure: "b" }),
        call("b", ["sku", "sku"], null, { onFailure: "a" }),
      ]),
    ).toEqual(["a", "b"]);
  });
});

describe("the values that a job keeps for expressions of later steps", () => {
  const remembered = (steps: readonly JsonValue[], name: string) => [
    ...(stepOf(planOf(steps, sku), name).remembering?.slots ?? []),
  ];
  const making = (name: string, input: JsonValue, next: JsonValue) => noop(name, ["any", "any"], next, { input });

  test("include a property from the step that gives it to the last step that reads it", () => {
    const steps = [
      call("a", ["any", "sku"], "b"),
      noop("b", ["any", "any"], "c"),
      making("c", { sku: "${ steps.a.output.sku }" }, "d"),
      noop("d", ["any", "any"], null),
    ];
    expect(["a", "b", "c", "d"].map((name) => remembered(steps, name))).toEqual([
      ["/steps/a/output/sku"],
      ["/steps/a/output/sku"],
      [],
      [],
    ]);
  });

  test("include no property of a step that cannot have run", () => {
    const asking = (next: JsonValue) => [
      noop("a", ["any", "any"], "b"),
      making("b", { hasRun: "${ has(steps.c.output) }" }, "c"),
      noop("c", ["any", "any"], next),
    ];
    expect(remembered(asking(null), "a")).toEqual([]);
    const looping = asking({ choose: [{ if: "true", then: "a" }], else: null });
    // After b nothing is remembered: c makes a new output before the loop comes to b again.
    expect(["a", "b", "c"].map((name) => remembered(looping, name))).toEqual([
      ["/steps/c/output"],
      [],
      ["/steps/c/output"],
    ]);
  });

  test("include an event of an earlier wait, and the error that led to a step", () => {
    const steps = [
      wait("a", ["any", "any"], "b"),
      noop("b", ["any", "any"], "c"),
      call("c", ["any", "any"], null, { onFailure: "d" }),
      making("d", { event: "${ events.approved.payload }", why: "${ error.code }" }, null),
    ];
    expect(remembered(steps, "b")).toEqual(["/events/approved/payload"]);
    expect(remembered(steps, "c").sort()).toEqual(["/error", "/events/approved/payload"]);
  });
});
