import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { call, closed, number, open, parse, text, workflow } from "../job/sketches.ts";

const definitions = {
  any: {},
  order: closed({ id: text, amount: number, note: text }, ["id", "amount"]),
  stock: closed({ reserved: { type: "boolean" }, reservation: text }, ["reserved"]),
  decision: closed({ approved: { type: "boolean" }, by: text }),
  decided: open({ approved: { type: "boolean" } }, []),
  state: closed({ state: { enum: ["running", "done", "failed"] } }),
  counted: closed({ n: { type: "integer" } }),
  list: closed({ items: { type: "array", items: closed({ sku: text, price: number }) } }),
  waiting: closed({ seconds: { type: "number", minimum: 0, maximum: 3600 } }),
};

const step = (name: string, type: string, more: JsonObject, config: JsonObject = {}, [i, o] = ["any", "any"]) => ({
  name,
  integrationDetails: {
    type: `/service/${type}`,
    config,
    inputDefinition: { $ref: `#/definitions/${i}` },
    outputDefinition: { $ref: `#/definitions/${o}` },
  },
  ...more,
});
const first = (next: JsonValue, more: JsonObject = {}) => call("first", ["order", "stock"], next, more);
const last = (more: JsonObject) => step("last", "transform", more);
const http = (more: JsonObject, [i, o] = ["any", "any"]) =>
  step("http", "http", more, { method: "GET", url: "https://example.com/" }, [i, o]);
const choose = (condition: string, then: string | null, otherwise: string | null) => ({
  choose: [{ if: condition, then }],
  else: otherwise,
});
const gate = (next: JsonValue, config: JsonObject, [i, o] = ["any", "any"]) =>
  step("gate", "waitForEventIds", { transitionToStep: next }, config, [i, o]);
const decides = { eventIds: ["approved"], payloadDefinitions: { approved: { $ref: "#/definitions/decision" } } };

describe("usual definitions register without a warning", () => {
  test.each<[name: string, steps: readonly JsonValue[]]>([
    ["a step that takes from the job's input", [first("last"), last({ input: { id: "${ input.id }" } })]],
    ["text around a value", [first("last"), last({ input: { text: "Order ${ input.id } over ${ input.amount }" } })]],
    ["arithmetic", [first("last"), last({ input: { cents: "${ int(input.amount * 100) }" } })]],
    [
      "an optional property, with `has`",
      [first("last"), last({ input: { note: '${ has(input.note) ? input.note : "" }' } })],
    ],
    [
      "an output of an earlier step",
      [first("last"), last({ input: { reserved: "${ steps.first.output.reserved }" } })],
    ],
    [
      "an optional property of an earlier step, with `has`",
      [
        first("last"),
        last({ input: { r: "${ has(steps.first.output.reservation) ? steps.first.output.reservation : null }" } }),
      ],
    ],
    [
      "an output that is made of the result",
      [first("last", { output: { reserved: true } }), last({ input: "${ steps.first.output.reserved }" })],
    ],
    ["a choice by the output", [first(choose("output.reserved", "last", null)), last({ input: {} })]],
    [
      "a choice by the job's input",
      [first(choose("input.amount > 100 && output.reserved", "last", null)), last({ input: {} })],
    ],
    [
      "a choice with `has`",
      [first(choose("has(input.note) && input.note.size() > 3", "last", null)), last({ input: {} })],
    ],
    [
      "an approval whose payload is defined",
      [
        gate(choose("events.approved.payload.approved", "last", null), decides),
        last({ input: { by: "${ events.approved.payload.by }" } }),
      ],
    ],
    [
      "an approval whose answer is in the output",
      [
        gate(choose("has(output.approved) && output.approved", "last", null), { eventIds: ["approved"] }, [
          "order",
          "decided",
        ]),
        last({ input: {} }),
      ],
    ],
    [
      "an approval or a refusal, whichever comes first",
      [
        gate("last", { eventIds: ["yes", "no"], match: "any" }),
        last({
          input: { isGranted: "${ has(events.yes) }", at: '${ has(events.yes.sentAt) ? events.yes.sentAt : "never" }' },
        }),
      ],
    ],
    [
      "an approval that times out",
      [
        { ...gate("last", { ...decides, timeoutSeconds: 60 }), onFailure: "late" },
        last({ input: "${ events.approved.payload.by }" }),
        step("late", "transform", { input: { why: "${ error.code }: ${ error.message }" }, transitionToStep: null }),
      ],
    ],
    [
      "an id by an expression",
      [first("gate"), gate("last", { eventIds: ["paid-${ input.id }"] }), last({ input: "${ input.amount }" })],
    ],
    ["a delay by an expression", [step("sleep", "delay", {}, { seconds: "${ input.seconds }" }, ["waiting", "any"])]],
    [
      "a delay until a time after an event",
      [
        gate("sleep", { eventIds: ["e"] }),
        step("sleep", "delay", {}, { until: '${ timestamp(events.e.sentAt) + duration("1h") }' }),
      ],
    ],
    [
      "polling",
      [
        first("ask"),
        call(
          "ask",
          ["any", "state"],
          {
            choose: [
              { if: 'output.state == "running"', then: "sleep" },
              { if: 'output.state == "done"', then: "last" },
            ],
            else: null,
          },
          { input: { id: "${ input.id }" } },
        ),
        step("sleep", "delay", { transitionToStep: "ask" }, { seconds: 5 }),
        last({ input: { state: "${ steps.ask.output.state }" } }),
      ],
    ],
    [
      "polling with a count of the attempts",
      [
        step("count", "transform", {
          input: { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" },
          transitionToStep: choose("output.n < 10", "sleep", null),
        }),
        step("sleep", "delay", { transitionToStep: "count" }, { seconds: 5 }),
      ],
    ],
    [
      "a counter of one step in another one",
      [
        step("count", "transform", {
          input: { n: "${ has(steps.next.output) ? steps.next.output.m : 0 }" },
          transitionToStep: "next",
        }),
        step("next", "transform", {
          input: { m: "${ steps.count.output.n + 1 }" },
          transitionToStep: choose("output.m < 10", "count", null),
        }),
      ],
    ],
    [
      "a saga that undoes what was done",
      [
        first("pay", { onFailure: "sorry" }),
        call("pay", ["any", "any"], null, { input: { amount: "${ input.amount }" }, onFailure: "undo" }),
        call("undo", ["any", "any"], "sorry", {
          input: { reservation: '${ has(steps.first.output.reservation) ? steps.first.output.reservation : "" }' },
        }),
        step("sorry", "transform", {
          input: { why: "${ error.message }", step: "${ error.step }", undone: "${ has(steps.undo.output) }" },
        }),
      ],
    ],
    [
      "a handler that asks which step failed",
      [
        first("pay", { onFailure: "sorry" }),
        call("pay", ["any", "any"], null, { input: {}, onFailure: [{ on: ["Timeout"], then: "sorry" }] }),
        step("sorry", "transform", { input: { isPayment: "${ has(steps.pay.error) ? steps.pay.error.code : null }" } }),
      ],
    ],
    [
      "a request whose answer is checked",
      [
        http({
          output: {
            status: "${ result.status }",
            type: '${ has(result.headers["content-type"]) ? result.headers["content-type"] : "" }',
          },
          transitionToStep: choose("output.status == 200", "last", null),
        }),
        last({ input: "${ steps.http.output.status + 0 }" }),
      ],
    ],
    [
      "a request without an output definition",
      [
        http({ transitionToStep: choose("output.status < 300", "last", null) }),
        last({ input: { answer: "${ steps.http.output.body }" } }),
      ],
    ],
    [
      "a list that is mapped",
      [
        call("list", ["any", "list"], "last"),
        last({
          input: {
            skus: "${ steps.list.output.items.map(item, item.sku) }",
            total: "${ steps.list.output.items.map(item, item.price).sum() }",
          },
        }),
      ],
    ],
    [
      "a mapping that fits a closed input definition",
      [first("decide"), call("decide", ["counted", "any"], null, { input: { n: "${ int(input.amount) }" } })],
    ],
    [
      "a mapped wait whose input later steps take",
      [
        step("gate", "waitForEventIds", { input: { n: 1 }, transitionToStep: "take" }, { eventIds: ["e"] }),
        call("take", ["counted", "any"], null),
      ],
    ],
    [
      "constants of a mapping",
      [
        step("set", "transform", { input: { kind: "card", tries: [1, 2] }, transitionToStep: "last" }),
        last({ input: "${ steps.set.output.kind + text(steps.set.output.tries[1]) }" }),
      ],
    ],
    [
      "an input of an earlier step",
      [
        first("last"),
        last({ input: { id: "${ steps.first.input.id }", at: "${ job.submittedAt }", now: "${ now }" } }),
      ],
    ],
  ])("%s", (_, steps) => {
    const { problems, warnings } = parse(workflow(steps, definitions));
    expect(problems).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe("the check of data that expressions produce", () => {
  const findings = (steps: readonly JsonValue[]) => {
    const { problems, warnings } = parse(workflow(steps, definitions));
    return { problems: problems.map(({ detail }) => detail), warnings: warnings.map(({ detail }) => detail) };
  };

  test("the job's input can be anything if the first step's `input` converts it", () => {
    const steps = [
      step("set", "transform", { input: {}, transitionToStep: "use" }, {}, ["decided", "decided"]),
      call("use", ["wish", "any"], null),
    ];
    const wish = closed({ approved: { type: "boolean" } }, []);
    const { problems, warnings } = parse(workflow(steps, { ...definitions, decided: wish, wish }));
    expect(problems).toEqual([]);
    expect(warnings.map(({ detail }) => detail)).toEqual([
      "`use` receives `approved` from the job's input; it may be anything, but must be a boolean",
    ]);
  });

  test("an event whose id is an expression can bring the properties of the output definition", () => {
    const steps = [
      gate("use", { eventIds: ["paid-${ input.id }"] }, ["order", "decided"]),
      call("use", ["wish", "any"], null),
    ];
    const wish = closed({ approved: { type: "boolean" } });
    const { problems, warnings } = parse(workflow(steps, { ...definitions, wish }));
    expect(problems).toEqual([]);
    expect(warnings.map(({ detail }) => detail)).toEqual([
      "`use` receives `approved` from `gate`; it may be missing, but is required",
    ]);
  });

  test("the properties of an event's payload fit the output definitions of the steps that list it", () => {
    const ask = "has(events.approved.payload.approved) && events.approved.payload.approved";
    const steps = [
      gate(choose(ask, "last", null), { eventIds: ["approved"] }, ["order", "decided"]),
      last({ input: {} }),
    ];
    expect(findings(steps)).toEqual({ problems: [], warnings: [] });
  });

  test("an answer of an HTTP step has a status, headers and a body, and nothing else", () => {
    expect(findings([http({ transitionToStep: choose("output.statusCode == 200", null, null) })]).problems).toEqual([
      "`output.statusCode` is never there: the schema does not allow the property",
    ]);
  });

  test("each misspelt step and event gets its hint, however many one template contains", () => {
    const input = [
      "${ steps.frist.output }",
      "${ steps.frist.input }",
      "${ events.aproved.payload }",
      "${ events.aproved.sentAt }",
    ];
    const { problems } = findings([first("gate"), gate("last", decides), last({ input })]);
    expect(problems).toEqual([
      expect.stringContaining("did you mean `first`?"),
      expect.stringContaining("did you mean `first`?"),
      expect.stringContaining("did you mean `approved`?"),
      expect.stringContaining("did you mean `approved`?"),
    ]);
  });

  test("a property that a guard does not find causes no failure", () => {
    const ask = "has(steps.last.error) ? steps.last.error.code : null";
    expect(findings([last({ input: { code: `\${ ${ask} }` } })])).toEqual({ problems: [], warnings: [] });
    const misspelt = findings([first("last"), last({ input: "${ has(input.nota) ? input.nota : null }" })]);
    expect(misspelt.problems).toEqual([]);
    expect(misspelt.warnings).toEqual([expect.stringContaining("did you mean `note`?")]);
  });
});
