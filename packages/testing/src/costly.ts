import type { JsonObject, JsonValue } from "../../server/src/core/json/json.ts";

/** The definitions and values that make most of each bound: found by searching, kept so that nothing is found twice. */

/** A value and the schema that makes its check long. */
export interface CostlyCheck {
  readonly name: string;
  readonly schema: JsonValue;
  readonly value: JsonValue;
}

export function costlyChecks(): CostlyCheck[] {
  const letters = scattered("ab", 4_000);
  return [
    {
      name: "one large allowed object, and empty ones",
      schema: { items: { const: wide(25_000) } },
      value: many(66_000, {}),
    },
    {
      name: "an empty allowed object, and a wide one",
      schema: { anyOf: many(20_000, { const: {} }) },
      value: wide(25_000),
    },
    {
      name: "a large allowed object again and again",
      schema: { anyOf: many(100, { const: wide(2_000) }) },
      value: wide(2_001),
    },
    {
      name: "ten thousand alternatives",
      schema: { items: { anyOf: many(10_000, { minimum: 9 }) } },
      value: many(400_000, 1),
    },
    {
      name: "alternatives that require",
      schema: { items: { anyOf: many(9_000, { required: ["a", "b"] }) } },
      value: many(60_000, { b: 1 }),
    },
    {
      name: "alternatives that count characters",
      schema: { anyOf: many(9_000, { minLength: 900_000 }) },
      value: "😀".repeat(250_000),
    },
    {
      name: "alternatives of a format",
      schema: { anyOf: many(200, { format: "uri" }) },
      value: `http:${"a".repeat(1_000_000)}<`,
    },
    { name: "a pattern with many states", schema: { pattern: "a[ab]{480}c" }, value: letters },
    { name: "a pattern of optional letters", schema: { pattern: "(?:[ab]?){200}c" }, value: letters.slice(0, 2_000) },
    { name: "a pattern of Unicode letters", schema: { pattern: "a\\pL{100}\\d" }, value: scattered("aéж中", 9_000) },
    { name: "a pattern with one simple state", schema: { pattern: "^[^<>]*$" }, value: "a".repeat(1_000_000) },
    {
      name: "many short texts under a pattern",
      schema: { items: { pattern: "^[A-Z]{3}-[0-9]{4}$" } },
      value: many(80_000, "ABC-1234"),
    },
    {
      name: "many patterns for each text",
      schema: { items: { anyOf: patterns(250) } },
      value: many(80_000, "ABC-1234"),
    },
  ];
}

/** Patterns that cost far more than their text shows. */
export function costlyPatterns(): string[] {
  return [
    "(?i)[Ā-𞥃]",
    "(?i)[\\x{100}-\\x{1e943}]",
    `(?i)${"[Ā-𞥃]".repeat(150)}`,
    `(?i)[${"Ā-𞥃".repeat(240)}]`,
    "\\pL{300}",
    "[\\pL\\pN]{100}",
    `[${"\\pL".repeat(300)}]`,
    "\\PL(?i){999}",
    "(?:(?:(?:a?)?)?){400}",
    "(a|b|c){200}",
    "(){999}",
    `${"(".repeat(300)}a${")?".repeat(300)}`,
    `(?i)${"(aé|".repeat(120)}${")".repeat(120)}`,
    "a[ab]{490}c",
  ];
}

/** Definitions that take long to check, or to compile, or that make a large plan. */
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
      "two hundred definitions, each of a few steps",
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
  ]);
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

function wide(count: number): JsonObject {
  return named(count, 1);
}

function named(count: number, value: JsonValue, prefix = "k"): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index.toString(36)}`, value]));
}

function many(count: number, value: JsonValue): JsonValue[] {
  return Array.from({ length: count }, () => value);
}

function patterns(count: number): JsonValue[] {
  return Array.from({ length: count }, (_, index) => ({ pattern: `^x${index}[a-z]+$` }));
}

/** The text is the same at every run, though no part of it repeats soon. */
function scattered(letters: string, length: number): string {
  const characters = [...letters];
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return characters[state % characters.length];
  }).join("");
}
