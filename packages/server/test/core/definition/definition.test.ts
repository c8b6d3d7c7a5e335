import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { compilePlan } from "../../../src/core/plan/plan.ts";
import { call, closed, noop, number, parse, text, wait, workflow } from "../job/sketches.ts";

const any = ["any", "any"] as const;

/** A definition whose steps use all of its schemas, and no others. */
const given = workflow(
  [
    call("reserve", ["order", "reservation"], "approve"),
    wait("approve", ["empty", "empty"], "ship"),
    call("ship", ["shipment", "empty"], "done"),
    noop("done", ["empty", "empty"], null),
  ],
  {
    order: closed({ sku: text, count: number }),
    reservation: closed({ reservationId: text }),
    shipment: closed({ reservationId: text, sku: text }),
    empty: { type: "object", properties: {}, required: [], additionalProperties: false },
  },
);

test("a definition whose steps use all of its schemas, and no others, is accepted without a warning", () => {
  const { definition, problems, warnings } = parse(given);
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  expect(definition?.steps.map(({ name }) => name)).toEqual(["reserve", "approve", "ship", "done"]);
  expect(definition?.steps[0]).toMatchObject({
    type: "/service/cloud/function",
    work: { kind: "call" },
    transitionToStep: "approve",
  });
  expect([...(definition?.schemas.keys() ?? [])]).toEqual(["order", "reservation", "shipment", "empty"]);
});

describe("a text is rejected that", () => {
  test.each<[string, JsonValue, string, string]>([
    ["is no JSON", '{"workflowName": "a",}', "", "line 1, column 22 (offset 21)"],
    ["is empty", "", "", "ends too early"],
    ["is JSON in JSON", JSON.stringify(JSON.stringify(given)), "", "encoded as JSON twice"],
    ["is a list", [], "", "must be an object, but is an array"],
    [
      "is nested too deeply",
      `{"definitions":${"[".repeat(70)}${"]".repeat(70)}}`,
      `/definitions${"/0".repeat(63)}`,
      "more than 64 levels",
    ],
    [
      "holds a number that would change",
      '{"definitions":{"a":{"const":9007199254740993}}}',
      "/definitions/a/const",
      "send it as a string",
    ],
    ["holds NUL in an escape", String.raw`{"workflowName":"a\u0000"}`, "/workflowName", "NUL"],
  ])("%s", (_, definition, pointer, words) => {
    expect(parse(definition).problems).toEqual([{ pointer, detail: expect.stringContaining(words) }]);
  });

  test("is too long, before it is parsed", () => {
    const long = "😀".repeat(limits.maxDefinitionBytes / 4);
    expect(parse(`${long}x`).problems).toEqual([
      { pointer: "", detail: "has 524289 bytes; a definition may have 524288" },
    ]);
  });
});

/** Each row changes one part of a valid definition, and names the only problem that results. */
describe("a definition is rejected that", () => {
  const sound = workflow([call("a", any, "b"), wait("b", any, null)]);
  const withFields = (fields: JsonObject): JsonObject => ({ ...sound, ...fields });
  const withSteps = (...steps: JsonValue[]): JsonObject => withFields({ steps });
  const withLast = (last: JsonValue): JsonObject => withSteps(call("a", any, "b"), last);
  const details = (fields: JsonObject, stepFields: JsonObject = {}): JsonObject => {
    const { integrationDetails, ...step } = noop("b", any, null);
    return withLast({
      ...step,
      ...stepFields,
      integrationDetails: { ...(integrationDetails as JsonObject), ...fields },
    });
  };
  const without = (field: string, object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== field));
  const last = "/steps/1";
  const lastDetails = `${last}/integrationDetails`;

  test.each<[string, JsonValue, string, string]>([
    // The workflow.
    ["has an unknown field", withFields({ comment: "mine" }), "/comment", "is not a field of a definition"],
    ["names a dialect", withFields({ $schema: "x" }), "/$schema", "is not a field of a definition"],
    ["has no name", without("workflowName", sound), "/workflowName", "is required"],
    ["has a number for a name", withFields({ workflowName: 1 }), "/workflowName", "must be a string, but is a number"],
    ["has a blank name", withFields({ workflowName: " \u00a0" }), "/workflowName", "must not be blank"],
    ["has a line break in its name", withFields({ workflowName: "a\nb" }), "/workflowName", "control characters"],
    [
      "has a name that is too long",
      withFields({ workflowName: "x".repeat(257) }),
      "/workflowName",
      "longer than 256 characters",
    ],
    [
      "has definitions that are no object",
      withFields({ definitions: [] }),
      "/definitions",
      "must be an object, but is an array",
    ],
    ["has no definitions", without("definitions", sound), "/definitions", "is required"],
    [
      "has a broken schema that no step uses",
      withFields({ definitions: { any: {}, x: { typ: 1 } } }),
      "/definitions/x/typ",
      "did you mean `type`?",
    ],
    // Its steps.
    ["has no steps", without("steps", sound), "/steps", "is required"],
    ["has an empty list of steps", withFields({ steps: [] }), "/steps", "one step or more"],
    ["has an object of steps", withFields({ steps: {} }), "/steps", "must be an array of steps, but is an object"],
    [
      "has too many steps",
      withFields({ steps: new Array(501).fill({}) }),
      "/steps",
      "has 501 steps; a definition may have 500",
    ],
    ["has a step that is no object", withSteps(call("a", any, null), "b"), last, "must be an object, but is a string"],
    [
      "has a step with an unknown field",
      withLast(noop("b", any, null, { transitonToStep: "a" })),
      `${last}/transitonToStep`,
      "did you mean `transitionToStep`?",
    ],
    [
      "has a step with a description",
      withLast(noop("b", any, null, { description: "" })),
      `${last}/description`,
      "is not a field of a step",
    ],
    ["has a step without a name", withSteps(without("name", noop("a", any, null))), "/steps/0/name", "is required"],
    ["has a step with a blank name", withSteps(noop("", any, null)), "/steps/0/name", "must not be blank"],
    [
      "has a step with too long a name",
      withSteps(noop("😀".repeat(257), any, null)),
      "/steps/0/name",
      "longer than 256",
    ],
    [
      "has two steps of one name",
      withSteps(call("a", any, "a"), noop("a", any, null)),
      `${last}/name`,
      "is already the name of /steps/0",
    ],
    // Rows about what a step does.
    [
      "has a step that does nothing",
      withLast(without("integrationDetails", noop("b", any, null))),
      lastDetails,
      "is required",
    ],
    [
      "has unknown details",
      details({ timeout: 1 }),
      `${lastDetails}/timeout`,
      "is not a field of `integrationDetails`",
    ],
    ["has a step without a type", details({ type: null }), `${lastDetails}/type`, "must be a string, but is null"],
    ["has an unknown type", details({ type: "/service/nop" }), `${lastDetails}/type`, "did you mean `/service/noop`?"],
    [
      "has a type of a later release",
      details({ type: "/service/schedule" }),
      `${lastDetails}/type`,
      "there is no type `/service/schedule`",
    ],
    ["has a type named after a method", details({ type: "constructor" }), `${lastDetails}/type`, "there is no type"],
    [
      "has a config that is no object",
      details({ config: [] }),
      `${lastDetails}/config`,
      "must be an object, but is an array",
    ],
    [
      "has a config where there is none",
      details({ config: { region: "x" } }),
      `${lastDetails}/config/region`,
      "is not a property that is allowed here",
    ],
    ["lacks a config", details({ type: "/service/waitForEventIds" }), `${lastDetails}/config/eventIds`, "is required"],
    [
      "waits for nothing",
      details({ type: "/service/waitForEventIds", config: { eventIds: [] } }),
      `${lastDetails}/config/eventIds`,
      "at least 1 item",
    ],
    [
      "waits for the same event twice",
      details({ type: "/service/waitForEventIds", config: { eventIds: ["x", "x"] } }),
      `${lastDetails}/config/eventIds/1`,
      "name each event id once",
    ],
    // Its definitions.
    [
      "has a step without an input definition",
      details({ inputDefinition: null }),
      `${lastDetails}/inputDefinition`,
      "must be an object, but is null",
    ],
    [
      "has a schema in the place of a reference",
      details({ inputDefinition: { type: "object" } }),
      `${lastDetails}/inputDefinition`,
      "put the schema into `definitions`",
    ],
    [
      "has a reference with more beside it",
      details({ inputDefinition: { $ref: "#/definitions/any", title: "x" } }),
      `${lastDetails}/inputDefinition/title`,
      "put the schema",
    ],
    [
      "refers to nothing",
      details({ outputDefinition: { $ref: "#/definitions/ani" } }),
      `${lastDetails}/outputDefinition/$ref`,
      "did you mean `any`?",
    ],
    [
      "refers to elsewhere",
      details({ outputDefinition: { $ref: "http://169.254.169.254/" } }),
      `${lastDetails}/outputDefinition/$ref`,
      "other forms are not supported",
    ],
    // Its transitions.
    [
      "leads to an unknown step",
      withLast(noop("b", any, "aproove")),
      `${last}/transitionToStep`,
      "there is no step `aproove`",
    ],
    [
      "leads to a number",
      withLast(noop("b", any, 1)),
      `${last}/transitionToStep`,
      "null to end the job or branch, or an object with `choose`, but is a number",
    ],
    [
      "has an empty choice",
      withLast(noop("b", any, { choose: [], else: null })),
      `${last}/transitionToStep/choose`,
      "has no condition",
    ],
    [
      "chooses without an `else`",
      withLast(noop("b", any, { choose: [{ if: "true", then: null }] })),
      `${last}/transitionToStep/else`,
      "is required",
    ],
    [
      "chooses by an invalid expression",
      withLast(noop("b", any, { choose: [{ if: "output. >", then: null }], else: null })),
      `${last}/transitionToStep/choose/0/if`,
      "which is not allowed at this place",
    ],
    [
      "chooses by an expression in braces",
      withLast(noop("b", any, { choose: [{ if: "${ output.done }", then: null }], else: null })),
      `${last}/transitionToStep/choose/0/if`,
      "leave out the",
    ],
    [
      "chooses an unknown step",
      withLast(noop("b", any, { choose: [{ if: "true", then: "c" }], else: null })),
      `${last}/transitionToStep/choose/0/then`,
      "there is no step `c`",
    ],
    [
      "transforms nothing",
      withLast({
        name: "b",
        integrationDetails: {
          type: "/service/transform",
          inputDefinition: { $ref: "#/definitions/any" },
          outputDefinition: { $ref: "#/definitions/any" },
        },
        transitionToStep: null,
      }),
      `${last}/input`,
      "is required: the value that the step makes",
    ],
    [
      "maps its input by an invalid expression",
      withLast(noop("b", any, null, { input: { a: "${ 1 + }" } })),
      `${last}/input/a`,
      "ends too early",
    ],
    [
      "fails to an unknown step",
      withLast(call("b", any, null, { onFailure: "c" })),
      `${last}/onFailure`,
      "there is no step `c`",
    ],
    ["fails to null", withLast(call("b", any, null, { onFailure: null })), `${last}/onFailure`, "but is null"],
    [
      "fails to itself",
      withLast(call("b", any, null, { onFailure: "b" })),
      `${last}/onFailure`,
      "cannot take over after its own failure",
    ],
    // Rows about the retry policy and the timeout of a step.
    [
      "retries a step without a call",
      withLast(noop("b", any, null, { retry: {} })),
      `${last}/retry`,
      "nothing to try again",
    ],
    ["retries a wait", withLast(wait("b", any, null, { retry: {} })), `${last}/retry`, "nothing to try again"],
    [
      "retries by a number",
      withLast(call("b", any, null, { retry: 3 })),
      `${last}/retry`,
      "must be an object, but is a number",
    ],
    [
      "has an unknown field of retry",
      withLast(call("b", any, null, { retry: { maxAttempt: 3 } })),
      `${last}/retry/maxAttempt`,
      "did you mean `maxAttempts`?",
    ],
    [
      "has no attempts",
      withLast(call("b", any, null, { retry: { maxAttempts: 0 } })),
      `${last}/retry/maxAttempts`,
      "a whole number from 1 to 100",
    ],
    [
      "has too many attempts",
      withLast(call("b", any, null, { retry: { maxAttempts: 101 } })),
      `${last}/retry/maxAttempts`,
      "a whole number from 1 to 100",
    ],
    [
      "has one and a half attempts",
      withLast(call("b", any, null, { retry: { maxAttempts: 1.5 } })),
      `${last}/retry/maxAttempts`,
      "a whole number",
    ],
    [
      "has no interval between attempts",
      withLast(call("b", any, null, { retry: { initialIntervalSeconds: 0 } })),
      `${last}/retry/initialIntervalSeconds`,
      "above 0",
    ],
    [
      "has too long an interval between attempts",
      withLast(call("b", any, null, { retry: { maxIntervalSeconds: 86_401 } })),
      `${last}/retry/maxIntervalSeconds`,
      "at most 86400",
    ],
    [
      "has a maximum interval below the first one",
      withLast(call("b", any, null, { retry: { initialIntervalSeconds: 5, maxIntervalSeconds: 4 } })),
      `${last}/retry/maxIntervalSeconds`,
      "is less than the first interval",
    ],
    [
      "has intervals that become shorter",
      withLast(call("b", any, null, { retry: { backoffRate: 0.5 } })),
      `${last}/retry/backoffRate`,
      "a number from 1 to 10",
    ],
    [
      "jitters by a number",
      withLast(call("b", any, null, { retry: { jitter: 1 } })),
      `${last}/retry/jitter`,
      "true or false, but is a number",
    ],
    [
      "has a no-op with a timeout",
      withLast(noop("b", any, null, { timeoutSeconds: 1 })),
      `${last}/timeoutSeconds`,
      "has no timeout",
    ],
    ["has a timeout of 0", withLast(call("b", any, null, { timeoutSeconds: 0 })), `${last}/timeoutSeconds`, "above 0"],
    [
      "has a timeout of more than a year",
      withLast(wait("b", any, null, { timeoutSeconds: 31_536_001 })),
      `${last}/timeoutSeconds`,
      "at most 31536000",
    ],
    [
      "has two timeouts",
      details(
        { type: "/service/waitForEventIds", config: { eventIds: ["x"], timeoutSeconds: 5 } },
        { timeoutSeconds: 5 },
      ),
      `${last}/timeoutSeconds`,
      "has a timeout already",
    ],
  ])("%s", (_, definition, pointer, words) => {
    const { problems, definition: parsed } = parse(definition);
    expect(problems).toEqual([{ pointer, detail: expect.stringContaining(words) }]);
    expect(parsed).toBeUndefined();
  });
});

test("a step without transitionToStep ends the job, as null does", () => {
  const last = noop("b", any, null);
  const { transitionToStep: _, ...ending } = last;
  const steps = (end: JsonObject) => parse(workflow([noop("a", any, "b"), end]));
  expect(steps(ending).problems).toEqual([]);
  expect(steps(ending).definition).toEqual(steps(last).definition);
});

test("all problems are reported at once", () => {
  const { problems } = parse({
    workflowName: "",
    steps: [
      {
        name: "a",
        integrationDetails: {
          type: "/service/nop",
          inputDefinition: {},
          outputDefinition: { $ref: "#/definitions/x" },
        },
        transitionToStep: "b",
      },
      7,
    ],
    definitions: { any: { type: "int" } },
    extra: 1,
  });
  expect(problems.map(({ pointer }) => pointer)).toEqual([
    "/extra",
    "/workflowName",
    "/definitions/any/type",
    "/steps/0/integrationDetails/type",
    "/steps/0/integrationDetails/inputDefinition",
    "/steps/0/integrationDetails/outputDefinition/$ref",
    "/steps/0/transitionToStep",
    "/steps/1",
  ]);
});

test("a definition without definitions reports no missing references in steps", () => {
  const { problems } = parse({ workflowName: "a", steps: [noop("a", any, null)] });
  expect(problems.map(({ pointer }) => pointer)).toEqual(["/definitions"]);
});

test("a very long list of problems is cut", () => {
  const bad = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
  const { problems } = parse(workflow([noop("a", any, null)], { any: bad }));
  expect(problems).toHaveLength(1_001);
  expect(problems.at(-1)?.detail).toBe("these are the first 1000; there may be more");
});

describe("the defaults of omitted fields", () => {
  const retryOf = (more: JsonObject) => {
    const work = parse(workflow([call("a", any, null, more)])).definition?.steps[0].work;
    return work?.kind === "call" ? work.retry : undefined;
  };

  test("the default of a retry policy", () => {
    const defaults = {
      maxAttempts: 3,
      initialIntervalSeconds: 1,
      backoffRate: 2,
      maxIntervalSeconds: 60,
      jitter: true,
    };
    expect(retryOf({ retry: {} })).toEqual(defaults);
    expect(retryOf({ retry: { maxAttempts: 100, jitter: false } })).toEqual({
      ...defaults,
      maxAttempts: 100,
      jitter: false,
    });
  });

  test("never shortens a first interval which the definition sets", () => {
    expect(retryOf({ retry: { initialIntervalSeconds: 300 } })?.maxIntervalSeconds).toBe(300);
  });

  test("exists only for a step with `retry`", () => {
    expect(retryOf({})).toBeUndefined();
  });
});

describe("reachability in a definition", () => {
  const problemsOf = (...steps: JsonValue[]) =>
    parse(workflow(steps)).problems.map(({ pointer, detail }) => `${pointer} ${detail}`);

  test("requires that every step can be reached", () => {
    expect(problemsOf(noop("a", any, null), noop("b", any, null))).toEqual([
      "/steps/1 `b` can never be reached: no path leads to it from `a`, the first step",
    ]);
  });

  test("counts a way that a failure takes", () => {
    expect(problemsOf(call("a", any, null, { onFailure: "b" }), noop("b", any, null))).toEqual([]);
  });

  test("requires that every step can reach the end", () => {
    const problems = problemsOf(
      noop("a", any, "b", { onFailure: "d" }),
      noop("b", any, "c"),
      noop("c", any, "b"),
      noop("d", any, null),
    );
    expect(problems).toEqual([
      expect.stringContaining("/steps/1/transitionToStep from `b` no path leads to the end"),
      expect.stringContaining("/steps/2/transitionToStep from `c` no path leads to the end"),
    ]);
  });

  test("requires a way to the end from a step that leads to itself", () => {
    expect(problemsOf(noop("a", any, "a"))).toHaveLength(1);
  });

  test("allows a loop whose only way out is `onFailure`", () => {
    expect(problemsOf(call("a", any, "b"), call("b", any, "a", { onFailure: "c" }), noop("c", any, null))).toEqual([]);
  });

  test("is not judged where a typing mistake hides a transition", () => {
    expect(problemsOf(noop("a", any, "bb"), noop("b", any, null))).toHaveLength(1);
    expect(problemsOf(call("a", any, null, { onFailure: "bb" }), noop("b", any, null))).toHaveLength(1);
  });

  test("allows chains as long as a definition can be", () => {
    const chain = Array.from({ length: 500 }, (_, index) =>
      noop(`s${index}`, any, index < 499 ? `s${index + 1}` : null),
    );
    expect(problemsOf(...chain)).toEqual([]);
  });
});

test("the limits apply to every executor that waits, whatever its own schema allows", () => {
  const wide = new Map(catalog);
  const kind = catalog.get("/service/waitForEventIds");
  if (kind === undefined) throw new Error("unreachable");
  wide.set(kind.type, { ...kind, configSchema: {} });
  const eventIds = [...Array.from({ length: 100 }, (_, index) => `e${index}`), "x".repeat(257)];
  const { integrationDetails, ...step } = wait("a", any, null);
  const definition = workflow([
    { ...step, integrationDetails: { ...(integrationDetails as JsonObject), config: { eventIds } } },
  ]);
  const parsed = parseDefinition(JSON.stringify(definition), wide, limits);
  expect("problems" in parsed && parsed.problems.map(({ detail }) => detail)).toEqual([
    "lists 101 event ids; a step may wait for 100",
    expect.stringContaining("is longer than 256 characters"),
  ]);
});

test.each<[string, JsonObject]>([
  ["five hundred steps with two hundred properties each", workflow(callChain("wide"), { wide: manyProperties(200) })],
  [
    "thirty thousand unused properties",
    workflow([noop("a", any, null)], { any: {}, wide: manyProperties(20_000), more: manyProperties(10_000) }),
  ],
  [
    "five hundred steps that all lead nowhere",
    workflow(callChain("any").map((step, index) => ({ ...step, transitionToStep: `some-step-${index}` }))),
  ],
  [
    "five hundred steps with twelve thousand properties each",
    workflow(callChain("wide"), { wide: manyProperties(12_000) }),
  ],
])("%s are checked in bounded time", (_, definition) => {
  const source = JSON.stringify(definition);
  // Each text takes 15 to 250 ms on an idle machine. The test runner's own bound of 30 s detects anything much slower.
  const parsed = parseDefinition(source, catalog, limits);
  if ("definition" in parsed) expect(compilePlan(parsed.definition).steps.size).toBe(parsed.definition.steps.length);
});

function callChain(definition: string): JsonObject[] {
  return Array.from({ length: 500 }, (_, index) =>
    call(`s${index}`, [definition, definition], index < 499 ? `s${index + 1}` : null),
  );
}

function manyProperties(count: number): JsonObject {
  return closed(Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), text])));
}

test("a registered version is not checked again for its data flow, and its jobs run", () => {
  const definitions = { order: closed({ sku: text }), empty: closed({}), shipment: closed({ skus: text }) };
  const steps = [call("reserve", ["order", "empty"], "ship"), call("ship", ["shipment", "order"], null)];
  const source = JSON.stringify(workflow(steps, definitions));
  expect(parseDefinition(source, catalog, limits)).toHaveProperty("problems");
  expect(parseDefinition(source, catalog, limits, currentLanguage)).toMatchObject({ definition: {}, warnings: [] });
});

test("no document crashes the parser, and every accepted document compiles", () => {
  const anything = fc.oneof(
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
    fc.constantFrom<JsonValue>(null, "", "a", 0, -1, 1e9, true, [], {}, { $ref: "#/definitions/order" }),
  );
  const mutated = fc.array(fc.tuple(fc.nat(), anything, fc.constantFrom("replace", "remove", "add")), {
    minLength: 1,
    maxLength: 4,
  });
  const property = fc.property(mutated, (mutations) => {
    const document = structuredClone(given);
    // The value is copied, because the next mutation may change it.
    for (const [at, value, how] of mutations) mutate(document, at, structuredClone(value), how);
    const { definition } = parse(document);
    if (definition !== undefined) compilePlan(definition);
  });
  fc.assert(property, { numRuns: tries(2_000) });
  fc.assert(
    fc.property(fc.json(), (source) => void parse(source)),
    { numRuns: tries(300) },
  );
});

/** Changes the n-th place of a document, counted over all its objects and arrays. */
function mutate(document: JsonValue, at: number, value: JsonValue, how: string): void {
  const places = placesIn(document);
  const place = places[at % places.length];
  if (place === undefined) return;
  const [holder, key] = place;
  if (how === "remove") delete holder[key];
  else if (how === "add") holder[`${key}x`] = value;
  else holder[key] = value;
}

function placesIn(value: JsonValue): [JsonObject, string][] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as JsonObject;
  return Object.keys(holder).flatMap((key) => [
    [holder, key] as [JsonObject, string],
    ...placesIn(holder[key] as JsonValue),
  ]);
}
