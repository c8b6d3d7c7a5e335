import type { JsonObject, JsonValue } from "../../../server/src/core/json/json.ts";
import { conditional, many, named, patterns, wide } from "./parts.ts";

/*
 * The definitions that cost the service the most work. A search found them. They are stored here so that the search need not be repeated.
 */

/** Definitions that take long to check or to compile, or that result in a large plan. */
export function costlyDefinitions(): ReadonlyMap<string, JsonObject> {
  const closed = (properties: JsonObject): JsonObject => ({ type: "object", properties, additionalProperties: false });
  const alone = (definitions: JsonObject) =>
    workflow([noop(0, 1, ["x", "x"])], { x: { type: "object" }, ...definitions });
  const chain = (count: number, names: (index: number) => [string, string]) =>
    Array.from({ length: count }, (_, index) => noop(index, count, names(index)));
  const waits = (count: number, eventCount: number, payloadDefinitions: JsonObject) =>
    Array.from({ length: count }, (_, index) =>
      step(index, count, ["x", "y"], {
        type: "/service/waitForEventIds",
        config: { eventIds: Array.from({ length: eventCount }, (_event, event) => `e${event}`), payloadDefinitions },
      }),
    );
  const ownPayload = (event: number) => [`e${event}`, { $ref: `#/definitions/d${event}` }] as const;
  return new Map([
    ["twenty thousand schemas", alone(named(20_000, { minimum: 1 }))],
    ["thirty thousand alternatives", alone({ y: { anyOf: many(30_000, { minimum: 1 }) } })],
    [
      "five hundred steps with nine thousand properties",
      workflow(
        chain(500, () => ["x", "x"]),
        { x: closed(named(9_000, {})) },
      ),
    ],
    [
      "two hundred and fifty definitions, each used by a few steps",
      workflow(
        chain(500, (index) => [`d${index % 250}`, `d${(index * 7 + 1) % 250}`]),
        Object.fromEntries(
          Array.from({ length: 250 }, (_, index) => [`d${index}`, closed(named(30, {}, `p${index}`))]),
        ),
      ),
    ],
    [
      "waits that share events and properties",
      workflow(waits(300, 80, {}), { x: { type: "object" }, y: closed(named(9_000, {})) }),
    ],
    [
      "eighty waits, each with payload definitions for eighty events",
      workflow(waits(80, 80, Object.fromEntries(Array.from({ length: 80 }, (_, event) => ownPayload(event)))), {
        x: { type: "object" },
        y: closed(named(3_000, {})),
        ...Object.fromEntries(Array.from({ length: 80 }, (_, event) => [`d${event}`, closed({ [`q${event}`]: {} })])),
      }),
    ],
    ["a large allowed object", alone({ y: { const: wide(40_000) } })],
    ["three hundred patterns", alone({ y: { anyOf: patterns(300) } })],
    [
      "declared properties beside patterns",
      alone({
        y: {
          properties: named(700, {}),
          patternProperties: Object.fromEntries(patterns(60).map(({ pattern }) => [pattern, {}])),
        },
      }),
    ],
    ["definitions that each refer forty times to the next", workflow([noop(0, 1, ["l0", "l0"])], doubling(16))],
    [
      "steps whose schemas differ in rare keywords",
      workflow(
        chain(200, (index) => [`d${index % 100}`, `d${(index * 7 + 1) % 100}`]),
        Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d${index}`, rare(index)])),
      ),
    ],
  ]);
}

/** Definitions whose expressions take long to parse, or whose types take long to infer. */
export function costlyExpressions(): ReadonlyMap<string, JsonObject> {
  const chain = (count: number, input: (index: number) => JsonValue) =>
    workflow(
      Array.from({ length: count }, (_, index) => ({
        ...step(index, count, ["any", "any"], { type: "/service/transform" }),
        input: input(index),
      })),
      { any: {} },
    );
  const row = (count: number, part: (index: number) => JsonValue) => Array.from({ length: count }, (_, n) => part(n));
  const joined = (count: number, part: (index: number) => string, by: string) => row(count, part).join(by);
  const before = (index: number) => `steps.s${index - 1}.output`;
  return new Map([
    ["twenty thousand expressions", chain(500, () => named(39, "${ input.a }"))],
    ["a hundred thousand expressions", chain(1, () => "${1}".repeat(120_000))],
    ["long chains of operators", chain(120, () => row(4, () => `\${ ${joined(99, () => "input.a", " + ")} }`))],
    ["choices in choices", chain(100, () => `\${ ${joined(45, (n) => `input.a == ${n} ? {"v${n}": 1} : `, "")} 1 }`)],
    ["long guards", chain(100, () => `\${ ${joined(60, (n) => `has(input.a${n}.b.c)`, " && ")} ? 1 : 2 }`)],
    ["tuples by tuples", chain(100, () => `\${ ${joined(40, () => `[${joined(16, String, ", ")}]`, " + ")} }`)],
    [
      "outputs that hold the output of the previous step twice",
      chain(500, (n) => (n === 0 ? { l: 1 } : row(2, () => `\${ ${before(n)} }`))),
    ],
    ["outputs that grow", chain(500, (n) => (n === 0 ? {} : `\${ merge(${before(n)}, {"k${n}": ${n}}) }`))],
    [
      "steps in the opposite order",
      backwards(chain(500, (n) => ({ v: n === 499 ? "${ input.a }" : `\${ steps.s${n + 1}.output.v }` }))),
    ],
    ["names that are misspelt", misspelt(chain(500, () => row(20, (n) => `\${ input.q${n} }`)))],
    ["wide objects that are merged", misspelt(chain(500, () => row(8, (n) => `\${ merge(input, input).k${n} }`)))],
    [
      "searches in a large constant",
      chain(60, (n) => (n === 0 ? many(30_000, 0) : row(90, () => "${ 1 in steps.s0.output }"))),
    ],
    ["patterns from a list of values", matched(chain(100, () => row(30, () => "${ 'x'.matches(input.pattern) }")))],
    [
      "tuples of different texts",
      chain(100, () => `\${ ${joined(30, (n) => `[${joined(20, (k) => `"${n}${k}"`, ",")}]`, " + ")} }`),
    ],
    [
      "steps that use events, with many paths between them",
      branching(asking(chain(500, (n) => row(5, (k) => `\${ has(events.e${n}x${k}.payload) }`)))),
    ],
    ["steps that each lead to many", branching(chain(500, (n) => `\${ has(steps.s${(n + 250) % 500}.error) }`))],
    ["lists of trees", loops((n) => (n === 0 ? "input.list" : `${before(n)} + input.list`), "${ item }", "tree")],
    ["lists of lists", loops((n) => (n === 0 ? "[1]" : before(n)), "${ [item, item] }", "any")],
    [
      "lists in every body",
      loops((n) => (n === 0 ? "input.list" : `${before(n)} + input.list`), "${ input.list }", "any"),
    ],
  ]);
}

/** A chain of 250 forEach steps, each with a body of one step. */
function loops(items: (index: number) => string, body: JsonValue, output: string): JsonObject {
  const count = 250;
  const forks = Array.from({ length: count }, (_, index) =>
    step(index, count, [index === 0 ? "lists" : "any", "any"], {
      type: "/service/forEach",
      config: { items: `\${ ${items(index)} }`, step: `body${index}` },
    }),
  );
  const bodies = forks.map((_, index) => ({
    ...step(index, index, ["any", output], { type: "/service/transform" }),
    name: `body${index}`,
    input: body,
  }));
  const children = { type: "array", items: { $ref: "#/definitions/tree" }, maxItems: 9_999 };
  const tree = { type: "object", properties: { left: children, right: children }, additionalProperties: false };
  const list = { type: "array", items: { $ref: "#/definitions/tree" }, maxItems: 10_000 };
  const lists = { type: "object", properties: { list }, required: ["list"] };
  return workflow([...forks, ...bodies], { any: {}, tree, lists });
}

/**
 * The largest definition that is allowed, written as people would write it: each step uses values of the previous step and of the job's input, and
 * counts its own visits as a step in a loop does.
 */
export function largestWithExpressions(): JsonObject {
  const count = 500;
  const text = { type: "string" };
  const properties = Object.fromEntries(Array.from({ length: 13 }, (_, n) => [`property${n}`, text]));
  const definitions = { any: {}, order: { type: "object", properties, required: Object.keys(properties) } };
  const steps = Array.from({ length: count }, (_, index) => ({
    ...step(index, count, ["any", "any"], { type: "/service/transform" }),
    input: Object.fromEntries([
      ...Object.keys(properties).map((name) => [
        name,
        index < 2 ? `\${ input.${name} }` : `\${ steps.s${index - 1}.output.${name} }`,
      ]),
      ["count", `\${ has(steps.s${index}.output) ? steps.s${index}.output.count + 1 : 1 }`],
      ["note", `${"x".repeat(60)} \${ input.property0.upper() }`],
    ]),
  }));
  const first = step(0, count, ["order", "any"], { type: "/service/noop" });
  return workflow([first, ...steps.slice(1)], definitions);
}

/** Declares five thousand properties of the job's input. */
function misspelt(definition: JsonObject): JsonObject {
  return takingInput({ type: "object", properties: named(5_000, {}), additionalProperties: false }, definition);
}

/** Gives the job's input a property whose value is one of a hundred long patterns. */
function matched(definition: JsonObject): JsonObject {
  const pattern = { enum: Array.from({ length: 100 }, (_, n) => `${n}${"(a|b)".repeat(190)}`) };
  return takingInput({ type: "object", properties: { pattern }, required: ["pattern"] }, definition);
}

/** Makes the first step take the job's input unchanged, with this schema. */
function takingInput(wide: JsonObject, { steps, definitions, ...others }: JsonObject): JsonObject {
  const [{ input: _, ...first }, ...following] = steps as [JsonObject, ...JsonObject[]];
  const details = { ...(first.integrationDetails as JsonObject), inputDefinition: { $ref: "#/definitions/wide" } };
  const noopStep = { ...first, integrationDetails: { ...details, type: "/service/noop" } };
  return { ...others, steps: [noopStep, ...following], definitions: { ...(definitions as JsonObject), wide } };
}

/** Reverses the steps after the first: the first step leads to the last, each later step to the one before it, and the second step ends the job. */
function backwards({ steps, ...others }: JsonObject): JsonObject {
  const [first, ...following] = steps as [JsonObject, ...JsonObject[]];
  const last = `s${following.length}`;
  const turned = following.map((one, index) => ({ ...one, transitionToStep: index === 0 ? null : `s${index}` }));
  return { ...others, steps: [{ ...first, input: { v: 1 }, transitionToStep: last }, ...turned] };
}

/** Makes every fifth step a wait step without expressions. It waits for the events of the removed expressions and of those in the next four steps. */
function asking({ steps, ...others }: JsonObject): JsonObject {
  const waiting = (one: JsonObject, index: number): JsonObject => {
    const { input: _, ...step } = one;
    const eventIds = Array.from({ length: 25 }, (_event, n) => `e${index + Math.floor(n / 5)}x${n % 5}`);
    const details = step.integrationDetails as JsonObject;
    return { ...step, integrationDetails: { ...details, type: "/service/waitForEventIds", config: { eventIds } } };
  };
  return { ...others, steps: (steps as JsonObject[]).map((one, n) => (n % 5 === 0 ? waiting(one, n) : one)) };
}

function branching({ steps, ...others }: JsonObject): JsonObject {
  const all = steps as JsonObject[];
  const choose = (from: number) =>
    Array.from({ length: 10 }, (_, n) => ({ if: `input.a == ${n}`, then: `s${(from * 7 + n * 53 + 1) % all.length}` }));
  return {
    ...others,
    steps: all.map((one, index) => ({
      ...one,
      transitionToStep: { choose: choose(index), else: one.transitionToStep ?? null },
    })),
  };
}

/** Each level refers to the next one 40 times, so the number of paths multiplies with each level. */
function doubling(depth: number): JsonObject {
  const next = (level: number) => ({ $ref: `#/definitions/l${level + 1}` });
  const entries = Array.from({ length: depth / 2 }, (_, level) => [`l${level}`, { allOf: many(40, next(level)) }]);
  return { ...Object.fromEntries(entries), [`l${depth / 2}`]: { type: "object", required: ["a"] } };
}

/** A schema that allows other properties. Because of its keywords, the service can seldom decide whether its values fit another schema. */
function rare(index: number): JsonObject {
  return {
    type: "object",
    oneOf: Array.from({ length: 8 }, (_, tag) => ({ properties: { kind: { const: tag } }, required: ["kind"] })),
    not: { required: [`x${index}`] },
    ...conditional({ required: [`y${index}`] }),
    patternProperties: { [`^p${index}`]: { multipleOf: index + 1 } },
    propertyNames: { maxLength: 100 + index },
    dependentRequired: named(50, [`z${index}`]),
  };
}

function workflow(steps: JsonObject[], definitions: JsonObject): JsonObject {
  return { workflowName: "costly", steps, definitions };
}

function noop(index: number, count: number, names: [string, string]): JsonObject {
  return step(index, count, names, { type: "/service/noop" });
}

function step(index: number, count: number, [input, output]: [string, string], details: JsonObject): JsonObject {
  return {
    name: `s${index}`,
    integrationDetails: {
      ...details,
      inputDefinition: { $ref: `#/definitions/${input}` },
      outputDefinition: { $ref: `#/definitions/${output}` },
    },
    transitionToStep: index < count - 1 ? `s${index + 1}` : null,
  };
}
