import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { call, closed, noop, number, open, parse, text, wait, workflow } from "../job/sketches.ts";

/**
 * Returns the findings in short form. "E 1 in: …" is an error at the input definition of the second step; "W 0 out: …" is a warning at the output
 * definition of the first.
 */
function findings(steps: readonly JsonValue[], definitions: JsonObject): string[] {
  const { problems, warnings } = parse(workflow(steps, { any: {}, ...definitions }));
  const shorten = (pointer: string) =>
    pointer
      .replace("/steps/", "")
      .replace("/integrationDetails/inputDefinition", " in")
      .replace("/integrationDetails/outputDefinition", " out");
  return [
    ...problems.map(({ pointer, detail }) => `E ${shorten(pointer)}: ${detail}`),
    ...warnings.map(({ pointer, detail }) => `W ${shorten(pointer)}: ${detail}`),
  ];
}

describe("a step with a closed input definition takes each property", () => {
  test("the nearest earlier output with a property provides it", () => {
    const steps = [
      call("a", ["order", "count"], "b"),
      call("b", ["any", "name"], "c"),
      call("c", ["both", "any"], null),
    ];
    const definitions = {
      order: closed({ count: text }),
      count: closed({ count: number }),
      name: closed({ name: text }),
    };
    expect(findings(steps, { ...definitions, both: closed({ count: number, name: text }) })).toEqual([]);
    expect(findings(steps, { ...definitions, both: closed({ count: text, name: text }) })).toEqual([
      "E 2 in: `c` receives `count` from `a`; it is a number, but must be a string",
    ]);
  });

  test("the job's input provides a property that no output contains", () => {
    const steps = [call("a", ["order", "empty"], "b"), call("b", ["sku", "any"], null)];
    const definitions = { order: closed({ sku: text, note: text }, ["sku"]), empty: closed({}) };
    expect(findings(steps, { ...definitions, sku: closed({ sku: text }) })).toEqual([]);
    expect(findings(steps, { ...definitions, sku: closed({ note: text }) })).toEqual([
      "W 1 in: `b` receives `note` from the job's input; it may be missing, but is required",
    ]);
    expect(findings(steps, { ...definitions, sku: closed({ sku: number }) })).toEqual([
      "E 1 in: `b` receives `sku` from the job's input; it is a string, but must be a number",
    ]);
  });

  test("a property that nothing provides is an error that suggests the intended name", () => {
    const steps = [call("reserve", ["order", "empty"], "ship"), call("ship", ["shipment", "any"], null)];
    const definitions = { order: closed({ sku: text }), empty: closed({}), shipment: closed({ skus: text }) };
    expect(findings(steps, definitions)).toEqual([
      "E 1 in: `skus` is required by `ship`, but no earlier step gives it and the job's input cannot have it; did you mean `sku`?",
    ]);
  });

  test("a missing property that is optional is no error", () => {
    const steps = [call("a", ["empty", "empty"], "b"), call("b", ["wish", "any"], null)];
    expect(findings(steps, { empty: closed({}), wish: closed({ sku: text }, []) })).toEqual([]);
  });

  test("a property that only some earlier ways provide is a warning", () => {
    const steps = [call("a", ["empty", "perhaps"], "b"), call("b", ["sku", "any"], null)];
    const definitions = { empty: closed({}), sku: closed({ sku: text }) };
    const warning = "W 1 in: `b` receives `sku` from `a`; it may be missing, but is required";
    expect(findings(steps, { ...definitions, perhaps: closed({ sku: text }, []) })).toEqual([warning]);
    expect(findings(steps, { ...definitions, perhaps: {} })).toEqual([warning]);
    // Without "type": "object", an output that is not an object also fits, and such an output has no properties.
    expect(findings(steps, { ...definitions, perhaps: { properties: { sku: text }, required: ["sku"] } })).toEqual([
      warning,
    ]);
  });

  test("a property that an earlier step may overwrite with another type is a warning", () => {
    const steps = [
      call("a", ["empty", "text"], "b"),
      call("b", ["any", "number"], "c"),
      call("c", ["text", "any"], null),
    ];
    const definitions = { empty: closed({}), text: closed({ sku: text }), number: closed({ sku: number }, []) };
    expect(findings(steps, definitions)).toEqual([
      "W 2 in: `c` receives `sku` from `a` or `b`; it may be a number, but must be a string",
    ]);
  });

  test("a property whose source has a wider type is a warning that names the place", () => {
    const steps = [call("a", ["empty", "wide"], "b"), call("b", ["narrow", "any"], null)];
    const wide = closed({
      order: closed({ count: number, lines: { type: "array", items: { type: ["string", "null"] } } }),
    });
    const narrow = closed({ order: closed({ count: { type: "integer" }, lines: { type: "array", items: text } }) });
    expect(findings(steps, { empty: closed({}), wide, narrow })).toEqual([
      "W 1 in: `b` receives `order/count` from `a`; it may be a number with a fraction, but must be an integer",
      "W 1 in: `b` receives `order/lines/0` from `a`; it may be null, but must be a string",
    ]);
  });

  test("a property must also satisfy all other keywords of the definition", () => {
    const steps = [call("a", ["empty", "gives"], "b"), call("b", ["takes", "any"], null)];
    const takes = { ...closed({ a: text, b: text }, []), anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    expect(findings(steps, { empty: closed({}), takes, gives: closed({ a: text }) })).toEqual([]);
    expect(findings(steps, { empty: closed({}), takes, gives: closed({ a: text }, []) })).toEqual([
      "W 1 in: `b` receives its declared properties; the object of these properties may be none of the 2 alternatives (`anyOf`)",
    ]);
  });
});

describe("a step with an open input definition", () => {
  const definitions = {
    empty: closed({}),
    sku: open({ sku: text }),
    perhaps: open({ sku: text }, []),
    count: open({ sku: number }),
  };

  test("receives the whole output of the step before it", () => {
    const steps = (output: string) => [call("a", ["empty", output], "b"), call("b", ["sku", "any"], null)];
    expect(findings(steps("sku"), definitions)).toEqual([]);
    expect(findings(steps("perhaps"), definitions)).toEqual([
      "W 1 in: `b` receives the output of `a`; its `sku` may be missing, but is required",
    ]);
    expect(findings(steps("count"), definitions)).toEqual([
      "E 1 in: `b` receives the output of `a`; its `sku` is a number, but must be a string",
    ]);
    expect(findings(steps("empty"), definitions)).toEqual([
      "E 1 in: `b` receives the output of `a`; its `sku` is missing, but is required",
    ]);
  });

  test("receives nothing from earlier steps", () => {
    const steps = [call("a", ["empty", "sku"], "b"), call("b", ["any", "empty"], "c"), call("c", ["sku", "any"], null)];
    expect(findings(steps, definitions)).toEqual([
      "E 2 in: `c` receives the output of `b`; its `sku` is missing, but is required",
    ]);
  });

  test("receives the latest output through steps that only pass it on", () => {
    const steps = [
      call("a", ["empty", "sku"], "b"),
      noop("b", ["any", "any"], "c"),
      wait("c", ["any", "any"], "d"),
      call("d", ["sku", "any"], null),
    ];
    expect(findings(steps, definitions)).toEqual([]);
  });

  test("can rely on a check by a step that passes the value on", () => {
    const steps = [
      call("a", ["empty", "perhaps"], "b"),
      noop("b", ["sku", "any"], "c"),
      call("c", ["sku", "any"], null),
    ];
    expect(findings(steps, definitions)).toEqual([
      "W 1 in: `b` receives the output of `a`; its `sku` may be missing, but is required",
    ]);
  });

  test("receives, after a failure, the latest output before it, or the job's input", () => {
    const steps = [
      call("a", ["order", "sku"], "b", { onFailure: "c" }),
      call("b", ["any", "count"], null, { onFailure: "c" }),
      call("c", ["sku", "any"], null),
    ];
    expect(findings(steps, { ...definitions, order: closed({ sku: text }) })).toEqual([]);
    expect(findings(steps, { ...definitions, order: closed({ sku: number }) })).toEqual([
      "W 2 in: `c` receives the job's input when `a` has failed; its `sku` is a number, but must be a string",
    ]);
  });
});

describe("a way that only a failure takes", () => {
  const definitions = { order: closed({ sku: text }), empty: closed({}), reservation: closed({ id: text }) };

  test("causes a warning if there is another way", () => {
    const steps = [
      call("a", ["order", "reservation"], "b", { onFailure: "tell" }),
      call("b", ["order", "empty"], null, { onFailure: "tell" }),
      call("tell", ["reservation", "any"], null),
    ];
    expect(findings(steps, definitions)).toEqual([
      "W 2 in: `id` is required by `tell` when `a` has failed, but no earlier step gives it and the job's input cannot have it",
    ]);
  });

  test("causes an error if it is the only way, since the step can never run", () => {
    const steps = [
      call("a", ["order", "reservation"], null, { onFailure: "tell" }),
      call("tell", ["reservation", "any"], null),
    ];
    expect(findings(steps, definitions)).toEqual([
      "E 1 in: `id` is required by `tell`, but no earlier step gives it and the job's input cannot have it",
    ]);
  });

  test("carries no output of the failed step", () => {
    const steps = [
      call("a", ["order", "empty"], "b"),
      call("b", ["order", "reservation"], "c", { onFailure: "c" }),
      call("c", ["perhaps", "any"], null),
    ];
    expect(findings(steps, { ...definitions, perhaps: closed({ id: text }, []) })).toEqual([]);
    expect(findings(steps, { ...definitions, perhaps: closed({ id: text }) })).toHaveLength(1);
  });
});

describe("several ways into a step", () => {
  const steps = [
    call("a", ["order", "name"], "b", { onFailure: "c" }),
    call("b", ["order", "empty"], "d"),
    call("c", ["order", "number"], "d"),
    call("d", ["name", "any"], null),
  ];
  const definitions = { order: closed({ sku: text }), empty: closed({}), number: closed({ name: number }) };

  test("cause an error if one of them is certain to fail, even if the others are not", () => {
    expect(findings(steps, { ...definitions, name: closed({ name: text }) })).toEqual([
      "E 3 in: `d` receives `name` from `c` after `c`; it is a number, but must be a string",
    ]);
  });

  test("cause one warning for each that may fail", () => {
    expect(
      findings(steps, {
        ...definitions,
        number: closed({ name: { type: ["string", "null"] } }),
        name: closed({ name: text }),
      }),
    ).toEqual(["W 3 in: `d` receives `name` from `c` after `c`; it may be null, but must be a string"]);
  });

  test("cause only one message for a problem that all of them share", () => {
    const wish = { ...definitions, name: closed({ name: text }), number: closed({ name: text }) };
    const [a, b, c] = steps;
    expect(
      findings([a, b, c, call("d", ["wish", "any"], null)] as JsonValue[], {
        ...wish,
        wish: closed({ nothing: text }),
      }),
    ).toEqual([
      "E 3 in: `nothing` is required by `d`, but no earlier step gives it and the job's input cannot have it",
    ]);
  });

  test("include a loop, from its second turn on", () => {
    const loop = [
      call("a", ["order", "name"], "b"),
      call("b", ["name", "empty"], "a", { onFailure: "c" }),
      call("c", ["order", "any"], null),
    ];
    expect(findings(loop, { ...definitions, name: closed({ name: text }) })).toEqual([]);
    const other = [
      call("a", ["order", "other"], "b"),
      call("b", ["empty", "empty"], "a", { onFailure: "c" }),
      call("c", ["empty", "any"], null),
    ];
    expect(findings(other, { ...definitions, other: closed({ sku: number }) })).toEqual([
      "E 0 in: `a` receives `sku` from `a` after `b`; it is a number, but must be a string",
    ]);
  });
});

describe("a step that makes no output of its own", () => {
  const definitions = {
    order: closed({ sku: text, count: number }),
    sku: closed({ sku: text }),
    text: text as JsonObject,
  };

  test("passes its input on: a certain misfit is an error", () => {
    expect(findings([noop("a", ["order", "sku"], null)], definitions)).toEqual([
      "E 0 out: `a` has its input as its output; its `count` is there, but is not allowed",
    ]);
    expect(findings([noop("a", ["order", "text"], null)], definitions)).toEqual([
      "E 0 out: `a` has its input as its output; it is an object, but must be a string",
    ]);
  });

  test("passes its input on: a possible misfit is a warning", () => {
    expect(findings([noop("a", ["any", "sku"], null)], definitions)).toEqual([
      "W 0 out: `a` has its input as its output; its `sku` may be missing, but is required",
      "W 0 out: `a` has its input as its output; it may be an object with properties that are not allowed",
    ]);
  });

  test("passes on the received value, which may be more exact than its input definition", () => {
    expect(findings([call("a", ["any", "sku"], "b"), noop("b", ["any", "sku"], null)], definitions)).toEqual([]);
  });

  test("passes on the part of its input that its output definition keeps, if it is a wait step", () => {
    expect(findings([wait("a", ["order", "sku"], null)], definitions)).toEqual([]);
    expect(findings([wait("a", ["sku", "order"], null)], definitions)).toEqual([
      "W 0 out: only the payload of an event can bring `count`, which the output of `a` requires. If no event has a payload, the step ends without this property. If there are payloads but none has it, the step fails. Require the property in the definition that `payloadDefinitions` has for an event that the wait always needs, or take it out of `required` in the output definition",
    ]);
  });

  test("hides nothing from later steps", () => {
    const steps = [
      call("a", ["order", "sku"], "b"),
      wait("b", ["empty", "empty"], "c"),
      noop("c", ["any", "any"], "d"),
      call("d", ["order", "any"], null),
    ];
    expect(findings(steps, { ...definitions, empty: closed({}) })).toEqual([]);
  });
});

test("an output of several possible kinds provides only their common properties", () => {
  const steps = [call("a", ["any", "either"], "b"), call("b", ["sku", "any"], null)];
  const sku = closed({ sku: text });
  const either = (one: JsonValue, other: JsonValue) => ({ anyOf: [one, other] });
  expect(findings(steps, { sku, either: either(open({ sku: text, a: text }), open({ sku: { const: "x" } })) })).toEqual(
    [],
  );
  expect(findings(steps, { sku, either: either(open({ sku: text }), closed({})) })).toEqual([
    "W 1 in: `b` receives `sku` from `a` or the job's input; it may be missing, but is required",
  ]);
  expect(findings(steps, { sku, either: either(open({ sku: number }), open({ sku: { type: "null" } })) })).toEqual([
    "E 1 in: `b` receives `sku` from `a`; it is a number or null, but must be a string",
  ]);
});

test("an output without a schema causes a warning for each property that the next step describes", () => {
  const steps = [call("a", ["any", "any"], "b"), call("b", ["wish", "any"], null)];
  expect(findings(steps, { wish: closed({ sku: text }, []) })).toEqual([
    "W 1 in: `b` receives `sku` from `a` or the job's input; it may be anything, but must be a string",
  ]);
});

test("broken schemas and broken transitions are reported before their consequences", () => {
  const steps = [call("a", ["order", "order"], "b"), call("b", ["wish", "any"], null)];
  expect(findings(steps, { order: closed({}), wish: { ...closed({ sku: text }), typ: 1 } })).toHaveLength(1);
  expect(
    findings([call("a", ["order", "order"], "bb"), call("b", ["wish", "any"], null)], {
      order: closed({}),
      wish: closed({ sku: text }),
    }),
  ).toHaveLength(1);
  // A wrong config does not hide problems of the data flow: three problems of the config and one of the data flow are reported.
  const wrongConfig = { ...call("a", ["order", "order"], "b") };
  wrongConfig.integrationDetails = { ...(wrongConfig.integrationDetails as JsonObject), config: {} };
  expect(
    findings([wrongConfig, call("b", ["wish", "any"], null)], { order: closed({}), wish: closed({ sku: text }) }),
  ).toHaveLength(4);
});

describe("the payloads of a wait step's events", () => {
  const definitions = {
    order: closed({ sku: text }),
    decided: closed({ sku: text, approved: { type: "boolean" } }, ["sku"]),
    surely: closed({ sku: text, approved: { type: "boolean" } }),
    decision: closed({ approved: { type: "boolean" } }),
    text: closed({ approved: text }),
    wish: closed({ approved: { type: "boolean" } }, []),
    declined: closed({ approved: { const: false } }, []),
  };
  const decides = { payloadDefinitions: { approved: { $ref: "#/definitions/decision" } } };

  test("are known to later steps by their schema, and may be missing", () => {
    const gate = wait("gate", ["order", "decided"], "act");
    expect(findings([gate, call("act", ["wish", "any"], null)], definitions)).toEqual([]);
    expect(findings([gate, call("act", ["decision", "any"], null)], definitions)).toEqual([
      "W 1 in: `act` receives `approved` from `gate`; it may be missing, but is required",
    ]);
    expect(findings([gate, call("act", ["text", "any"], null)], definitions)).toEqual([
      "E 1 in: `act` receives `approved` from `gate`; it is a boolean, but must be a string",
    ]);
    expect(findings([gate, call("act", ["declined", "any"], null)], definitions)).toEqual([
      "W 1 in: `act` receives `approved` from `gate`; it may be true, which does not fit (must be false)",
    ]);
  });

  test("are certain where the payload definition of a required event requires them", () => {
    const steps = (config: JsonObject) => [
      withConfig(wait("gate", ["order", "surely"], "act"), config),
      call("act", ["decision", "any"], null),
    ];
    expect(findings(steps({ eventIds: ["approved"], ...decides }), definitions)).toEqual([]);
    expect(findings(steps({ eventIds: ["approved", "other"], match: "any", ...decides }), definitions)).toEqual([
      expect.stringContaining(
        "W 0 out: only the payload of an event can bring `approved`, which the output of `gate` requires",
      ),
      "W 1 in: `act` receives `approved` from `gate`; it may be missing, but is required",
    ]);
  });

  test("hide earlier values", () => {
    const steps = [
      call("before", ["any", "decision"], "gate"),
      wait("gate", ["order", "decided"], "act"),
      call("act", ["decision", "any"], null),
    ];
    expect(findings(steps, { ...definitions, any: definitions.surely })).toEqual([
      "W 2 in: `act` receives `approved` from `gate`; it may be missing, but is required",
    ]);
  });
});

describe("contradictory definitions of one event's payload", () => {
  const definitions = {
    order: closed({ sku: text }),
    yesOrNo: closed({ approved: { type: "boolean" } }, []),
    inWords: closed({ approved: text }, []),
    needsWords: closed({ approved: text }),
    either: closed({ approved: { type: ["boolean", "string"] } }, []),
  };
  const gates = (one: string, other: string) => [
    wait("gate", ["order", one], "again"),
    wait("again", ["order", other], null),
  ];

  test("are rejected in the output definitions of two steps", () => {
    expect(findings(gates("yesOrNo", "inWords"), definitions)).toEqual([
      "E 1 out: `approved` in the payload of `approved` can never fit both this and the output definition of `gate`, so no event could have it; let the two allow a common value, or let the steps wait for different events",
    ]);
    expect(findings(gates("yesOrNo", "either"), definitions)).toEqual([]);
  });

  test("are rejected in a payload definition and an output definition, also within one step", () => {
    const payloadDefinitions = { approved: { $ref: "#/definitions/needsWords" } };
    const config = { eventIds: ["approved"], payloadDefinitions };
    const gate = withConfig(wait("gate", ["order", "yesOrNo"], null), config);
    expect(findings([gate], definitions)).toEqual([
      expect.stringMatching(
        /^E 0\/integrationDetails\/config\/payloadDefinitions\/approved: `approved` in the payload/,
      ),
    ]);
  });

  test("are accepted if the events differ, or if no payload is read", () => {
    const steps = [
      wait("gate", ["order", "yesOrNo"], "again"),
      withConfig(wait("again", ["order", "inWords"], null), { eventIds: ["again"] }),
    ];
    expect(findings(steps, definitions)).toEqual([]);
    const passing = [
      call("before", ["order", "yesOrNo"], "gate"),
      wait("gate", ["yesOrNo", "yesOrNo"], "between"),
      call("between", ["order", "needsWords"], "again"),
      wait("again", ["inWords", "inWords"], null),
    ];
    expect(findings(passing, definitions)).toEqual([]);
  });
});

function withConfig(step: JsonObject, config: JsonObject): JsonObject {
  return { ...step, integrationDetails: { ...(step.integrationDetails as JsonObject), config } };
}

describe("the data flow follows, from step to step, schemas with", () => {
  const card = { type: "object", properties: { kind: { const: "card" }, number: text }, required: ["kind", "number"] };
  const cash = { type: "object", properties: { kind: { const: "cash" } }, required: ["kind"] };
  const pay = (output: JsonValue, input: JsonValue) =>
    findings([call("a", ["any", "output"], "b"), call("b", ["input", "any"], null)], { output, input });

  test("alternatives that a tag distinguishes", () => {
    expect(pay({ oneOf: [card, cash] }, { oneOf: [cash, card] })).toEqual([]);
    expect(pay({ oneOf: [card, cash] }, { oneOf: [card] })).toEqual([
      'W 1 in: `b` receives the output of `a`; its `kind` may be "cash", which does not fit (must be "card")',
      "W 1 in: `b` receives the output of `a`; its `number` may be missing, but is required",
    ]);
    expect(pay(cash, { oneOf: [card] })).toContain(
      'E 1 in: `b` receives the output of `a`; its `kind` is "cash", which does not fit (must be "card")',
    );
  });

  test("parts of `allOf`, on both sides", () => {
    const both = { allOf: [open({ sku: text }), open({ count: number })] };
    expect(pay(both, open({ sku: text, count: number }))).toEqual([]);
    expect(pay(open({ sku: text }), both)).toEqual([expect.stringContaining("missing, but is required")]);
  });

  test("a closed definition whose properties come from `allOf`", () => {
    const input = { allOf: [closed({ sku: text }), { minProperties: 1 }] };
    expect(pay(open({ sku: text, note: text }), input)).toEqual([]);
  });

  test("a keyword that cannot be decided, with a warning", () => {
    expect(pay(open({ sku: text }), { not: { required: ["note"] } })).toEqual([
      "W 1 in: `b` receives the output of `a`; it may be a value that `not` excludes",
    ]);
  });
});
