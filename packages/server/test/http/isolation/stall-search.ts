import type { JsonValue } from "../../../src/core/json/json.ts";

/** The parts from which the requests of one attempt are made. The search changes one of these parts at a time, again and again. */
export interface Attempt {
  readonly schema: SchemaRecipe;
  readonly value: ValueRecipe;
  readonly filter: readonly string[];
  /** The source of an expression that becomes the step's input. */
  readonly expression: string | undefined;
}

type SchemaRecipe =
  | { readonly type: "leaf"; readonly leaf: JsonValue }
  | { readonly type: "pattern"; readonly parts: readonly string[] }
  | { readonly type: "allowed"; readonly value: ValueRecipe; readonly count: number }
  | { readonly type: "anyOf" | "items" | "properties" | "rest"; readonly of: SchemaRecipe; readonly count: number };

type ValueRecipe =
  | { readonly type: "leaf"; readonly leaf: JsonValue }
  | { readonly type: "text"; readonly parts: readonly string[]; readonly count: number }
  | { readonly type: "list" | "object" | "nest"; readonly of: ValueRecipe; readonly count: number };

/** A generator of random choices that a seed determines. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a number from 0 up to, but not including, `bound` (mulberry32). */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  of<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Returns a random count. Each order of magnitude is about equally likely. */
  count(): number {
    return 1 + this.below(2 ** (1 + this.below(17)));
  }

  list<Item>(make: () => Item, max: number): Item[] {
    return Array.from({ length: 1 + this.below(max) }, make);
  }
}

export function newAttempt(chance: Chance): Attempt {
  return {
    schema: newSchema(chance, 3),
    value: newValue(chance, 3),
    filter: chance.list(() => chance.of(letters), 12),
    expression: chance.below(2) === 0 ? undefined : newExpression(chance, 4),
  };
}

/** Changes one part of the attempt. */
export function changed(attempt: Attempt, chance: Chance): Attempt {
  switch (chance.below(7)) {
    case 5:
      return { ...attempt, expression: newExpression(chance, 4) };
    case 6:
      return { ...attempt, expression: formed(chance, () => attempt.expression ?? newExpression(chance, 2)) };
    case 0:
      return { ...attempt, schema: newSchema(chance, 3) };
    case 1:
      return { ...attempt, value: newValue(chance, 3) };
    case 2:
      return { ...attempt, value: changedRecipe(attempt.value, chance, newValue) };
    case 3:
      return { ...attempt, filter: [...attempt.filter, ...attempt.filter, chance.of(letters)].slice(0, 500) };
    default:
      return { ...attempt, schema: changedRecipe(attempt.schema, chance, newSchema) };
  }
}

/** Writes a definition whose step takes a property `x` that fits the schema. */
export function definitionText({ schema, expression }: Attempt): string {
  const reference = { $ref: "#/definitions/order" };
  const details = { type: "/service/noop", inputDefinition: reference, outputDefinition: reference };
  const made = expression === undefined ? {} : { input: { x: `\${ ${expression} }` } };
  const steps = JSON.stringify([{ name: "only", integrationDetails: details, ...made }]);
  const order = `{"type":"object","properties":{"x":${schemaText(schema, maxSchemaLength)}}}`;
  return `{"workflowName":"attempt","steps":${steps},"definitions":{"order":${order}}}`;
}

/** Writes the value that is checked against the schema. */
export function valueText(recipe: ValueRecipe, room = maxValueLength): string {
  switch (recipe.type) {
    case "leaf":
      return JSON.stringify(recipe.leaf);
    case "text":
      return JSON.stringify(recipe.parts.join("").repeat(Math.min(recipe.count, Math.floor(room / 32))));
    case "list":
      return `[${repeated(valueText(recipe.of, room / 2), recipe.count, room)}]`;
    case "object":
      return `{${named(valueText(recipe.of, room / 2), recipe.count, room)}}`;
    default: {
      const depth = recipe.count % 40;
      return `${"[".repeat(depth)}${valueText(recipe.of, room - 80)}${"]".repeat(depth)}`;
    }
  }
}

function schemaText(recipe: SchemaRecipe, room: number): string {
  switch (recipe.type) {
    case "leaf":
      return JSON.stringify(recipe.leaf);
    case "pattern":
      return JSON.stringify({ pattern: recipe.parts.join("") });
    case "allowed":
      return `{"enum":[${repeated(valueText(recipe.value, room / 2), recipe.count, room)}]}`;
    case "anyOf":
      return `{"anyOf":[${repeated(schemaText(recipe.of, room / 2), recipe.count, room)}]}`;
    case "items":
      return `{"items":${schemaText(recipe.of, room)}}`;
    case "properties":
      return `{"properties":{${named(schemaText(recipe.of, room / 2), recipe.count, room)}}}`;
    default:
      return `{"additionalProperties":${schemaText(recipe.of, room)}}`;
  }
}

/** These limits leave space for the escapes that JSON adds when a text contains JSON. */
const maxSchemaLength = 350_000;
const maxValueLength = 900_000;

function repeated(text: string, count: number, room: number): string {
  return `${text},`.repeat(timesIn(room, text.length + 1, count)).slice(0, -1);
}

function named(text: string, count: number, room: number): string {
  const times = timesIn(room, text.length + 10, count);
  return Array.from({ length: times }, (_name, index) => `"${index.toString(36)}":${text}`).join(",");
}

function timesIn(room: number, length: number, count: number): number {
  return Math.max(1, Math.min(count, Math.floor(room / length)));
}

function newSchema(chance: Chance, depth: number): SchemaRecipe {
  const type =
    depth === 0
      ? chance.of<SchemaRecipe["type"]>(["leaf", "pattern"])
      : chance.of<SchemaRecipe["type"]>(["leaf", "pattern", "allowed", "anyOf", "items", "properties", "rest"]);
  switch (type) {
    case "leaf":
      return { type, leaf: chance.of(leafSchemas) };
    case "pattern":
      return { type, parts: chance.list(() => chance.of(patternParts), 12) };
    case "allowed":
      return { type, value: newValue(chance, depth - 1), count: chance.count() };
    default:
      return { type, of: newSchema(chance, depth - 1), count: chance.count() };
  }
}

function newValue(chance: Chance, depth: number): ValueRecipe {
  const type =
    depth === 0
      ? chance.of<ValueRecipe["type"]>(["leaf", "text"])
      : chance.of<ValueRecipe["type"]>(["leaf", "text", "list", "object", "nest"]);
  switch (type) {
    case "leaf":
      return { type, leaf: chance.of(leafValues) };
    case "text":
      return { type, parts: chance.list(() => chance.of(letters), 8), count: chance.count() };
    default:
      return { type, of: newValue(chance, depth - 1), count: chance.count() };
  }
}

function newExpression(chance: Chance, depth: number): string {
  return depth === 0 ? chance.of(expressionLeaves) : formed(chance, () => newExpression(chance, depth - 1));
}

/** Writes one operation of the language, with a result of `part` in each place for an operand. */
function formed(chance: Chance, part: () => string): string {
  return chance.of(expressionForms).replaceAll("#", part);
}

function changedRecipe<Recipe extends SchemaRecipe | ValueRecipe>(
  recipe: Recipe,
  chance: Chance,
  make: (chance: Chance, depth: number) => Recipe,
): Recipe {
  if (chance.below(6) === 0) return make(chance, 2);
  if ("parts" in recipe && chance.below(2) === 0) {
    const parts = [...recipe.parts];
    parts.splice(
      chance.below(parts.length + 1),
      chance.below(2),
      chance.of(recipe.type === "pattern" ? patternParts : letters),
    );
    return { ...recipe, parts: parts.slice(0, 60) };
  }
  if ("of" in recipe && chance.below(2) === 0) {
    return { ...recipe, of: changedRecipe(recipe.of as Recipe, chance, make) };
  }
  if (!("count" in recipe)) return make(chance, 2);
  return { ...recipe, count: Math.max(1, chance.below(2) === 0 ? recipe.count * 2 : recipe.count >> 1) };
}

const letters = ["a", "b", "é", "😀", "\\", "%", "_", "\n", '"', "0", "-", "@", "."] as const;
const patternParts = [
  ...[
    "a",
    "é",
    "[ab]",
    "[^x]",
    "(",
    "(?:",
    ")",
    "*",
    "+",
    "?",
    "|",
    "{2}",
    "{9,90}",
    "{0,400}",
    "{1000}",
    "\\d",
    "\\pL",
  ],
  ...[
    "\\P{Lu}",
    "\\b",
    "^",
    "$",
    ".",
    "[\\pL\\pN_.-]",
    "[[:alpha:]]",
    "(?i)",
    "[Ā-𞥃]",
    "[\\x{100}-\\x{1e943}]",
    "(a|b)*a",
    "\\Q",
  ],
] as unknown as readonly [string, ...string[]];
const expressionLeaves = ["input.x", "input.x", "input", "y", "1", '"a"', '""', "[1]", "now"] as const;
const expressionForms = [
  ...[
    "[input.x].map(y, #)",
    "#.map(y, #)",
    "#.all(y, # == #)",
    "#.exists(y, # || #)",
    "#.filter(y, # != #)",
    "(# + #)",
  ],
  ...["(# == #)", "(# in #)", "[#, #]", '{"a": #, "b": #}', "merge(#, #)", "text(#)", "json(#)", "size(#)", "sum(#)"],
  ...[
    "sort(#)",
    "distinct(#)",
    "#.split(#)",
    "#.replace(#, #)",
    "#.contains(#)",
    "#.matches(#)",
    "#.join(#)",
    "upper(#)",
  ],
  ...["base64.encode(#)", "base64.decode(#)", "uuid(#)", "timestamp(#)", "max(#)", "(has(#.a) ? # : #)"],
] as unknown as readonly [string, ...string[]];
const leafSchemas: readonly [JsonValue, ...JsonValue[]] = [
  false,
  {},
  { type: "string" },
  { minimum: 9 },
  { minLength: 9 },
  { maxLength: 400_000 },
  { minItems: 3 },
  { format: "uri" },
  { format: "email" },
  { format: "date-time" },
  { required: ["a", "b"] },
  { const: {} },
  { const: [] },
  { $ref: "#/definitions/order" },
  { $ref: "#/definitions/order", "x-sensitive": true },
];
const leafValues: readonly [JsonValue, ...JsonValue[]] = [
  1,
  0.5,
  "",
  "a",
  null,
  true,
  [],
  {},
  { a: 1 },
  [1],
  "a@example.com",
  "2026-01-31",
];
