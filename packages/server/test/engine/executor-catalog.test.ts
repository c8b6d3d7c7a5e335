import { readFileSync } from "node:fs";
import { Validator } from "@cfworker/json-schema";
import { catalog, limits } from "@stepwell/testing/catalog.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { parseDefinition } from "../../src/core/definition/definition.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/json.ts";
import { executorCatalog } from "../../src/engine/executors/catalog.ts";
import type { Executor } from "../../src/engine/executors/executor.ts";

const permissive = executorCatalog(
  readConfig({ STEPWELL_ALLOW_FUNCTION_ENDPOINTS: "true", STEPWELL_ALLOW_FUNCTION_ROLES: "true" }),
);
const docs = readFileSync(new URL("../../../../docs/executors.md", import.meta.url), "utf8");

describe.each([...catalog.values()])("$type", (executor) => {
  const { type, title, summary, configSchema } = executor;
  const fields = Object.entries(propertiesOf(configSchema));

  test("says in a sentence what it does, and what each field of its config is for", () => {
    expect(title).toMatch(/^[A-Z]/);
    for (const text of [summary, ...fields.map(([, { description }]) => description)])
      expect(text).toMatch(/^[A-Z].*\.$/);
  });

  test("has a section of docs/executors.md, with each field of its config and whether a step must give it", () => {
    const documented = [...sectionOf(`${title}: \`${type}\``).matchAll(/^\| `(\w+)` \| (yes)? ?\|/gm)];
    expect(Object.fromEntries(documented.map(([, field, yes]) => [field, yes === "yes"]))).toEqual(
      Object.fromEntries(fields.map(([field]) => [field, requiredOf(configSchema).includes(field)])),
    );
  });

  test("has the setting that allows a field beside the field in docs/executors.md", () => {
    for (const [field, setting] of executor.disallowedConfigFields ?? []) {
      expect(docs).toMatch(new RegExp(`^\\| \`${field}\` \\|.*\`${setting}=true\``, "m"));
    }
  });

  test.each([
    ["default settings", catalog],
    ["settings that allow all", permissive],
  ])(
    "under %s a config is registered exactly when its schema takes it and no rule beyond the schema forbids it",
    (_, executors) => {
      const kind = executors.get(type);
      if (kind === undefined) throw new Error("unreachable");
      const independent = new Validator(configSchema as object, "2020-12");
      const seen = { taken: 0, refused: 0 };
      fc.assert(
        fc.property(configsOf(configSchema), (config) => {
          const isTaken = problemsOf(config, type, executors).length === 0;
          seen[isTaken ? "taken" : "refused"] += 1;
          expect(isTaken).toBe(independent.validate(config).valid && !breaksRule(config, kind));
        }),
        { numRuns: 500 },
      );
      expect(seen).toEqual({ taken: expect.toSatisfy(isPositive), refused: expect.toSatisfy(isPositive) });
    },
  );
});

test("the catalogue has each type and each title once", () => {
  const executors = [...catalog.values()];
  expect(new Set(executors.map(({ title }) => title)).size).toBe(executors.length);
  expect([...catalog.keys()]).toEqual(executors.map(({ type }) => type));
});

test("docs/executors.md has no section of an executor that does not exist", () => {
  const types = [...docs.matchAll(/^## .*: `(.*)`$/gm)].map(([, type]) => type);
  expect(types).toEqual([...catalog.keys()]);
});

/** Where a schema of a config is looser than registration: all of it is here. */
const rules: readonly ((config: JsonObject, executor: Executor) => boolean)[] = [
  // Fields that the operator has to allow.
  (config, { disallowedConfigFields = new Map() }) =>
    [...disallowedConfigFields.keys()].some((field) => field in config),
  // Each event id is listed once.
  ({ eventIds }) => Array.isArray(eventIds) && new Set(eventIds).size < eventIds.length,
  // No more events can be asked for than are listed.
  ({ eventIds, match }) => Array.isArray(eventIds) && typeof match === "number" && match > eventIds.length,
  // Payloads are defined for listed events alone, by definitions that are there.
  ({ eventIds, payloadDefinitions = {} }) =>
    Object.entries(payloadDefinitions as Record<string, { $ref: string }>).some(
      ([id, { $ref }]) => !(eventIds as string[]).includes(id) || $ref !== "#/definitions/any",
    ),
  ({ endpoint }) => typeof endpoint === "string" && !URL.canParse(endpoint),
  // A role belongs to the function's account.
  ({ roleArn, accountId }) => typeof roleArn === "string" && roleArn.split(":")[4] !== accountId,
];

function breaksRule(config: JsonObject, executor: Executor): boolean {
  return rules.some((rule) => rule(config, executor));
}

function problemsOf(config: JsonObject, type: string, executors: ReadonlyMap<string, Executor>) {
  const any = { $ref: "#/definitions/any" };
  const integrationDetails = { type, config, inputDefinition: any, outputDefinition: any };
  const definition = {
    workflowName: "w",
    steps: [{ name: "s", integrationDetails, transitionToStep: null }],
    definitions: { any: {} },
  };
  const parsed = parseDefinition(JSON.stringify(definition), executors, limits);
  return "problems" in parsed ? parsed.problems : [];
}

/** Configs that mostly fit the schema; now and then a field is missing, has another kind of value, or is unknown. */
function configsOf(schema: JsonObject): fc.Arbitrary<JsonObject> {
  const required = requiredOf(schema);
  const fields = Object.entries(propertiesOf(schema)).map(([field, rule]) => {
    const value = fc.oneof({ weight: 12, arbitrary: valuesOf(rule) }, { weight: 1, arbitrary: anyValue });
    const isThere = fc.integer({ min: 1, max: 20 }).map((roll) => roll > (required.includes(field) ? 1 : 12));
    return fc.tuple(isThere, value).map(([there, given]) => (there ? [[field, given] as const] : []));
  });
  const unknown = fc.oneof(
    { weight: 15, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([["more", 1] as const]) },
  );
  return fc.tuple(unknown, ...fields).map((entries) => Object.fromEntries(entries.flat()));
}

/** Few texts, so that event ids repeat and meet the names of payload definitions. */
const text = fc.constantFrom("a", "b", "c", "#/definitions/any", "#/definitions/other", "", "x".repeat(257));
const anyValue = fc.constantFrom<JsonValue[]>(
  null,
  true,
  0,
  -1,
  1.5,
  2,
  1e12,
  "",
  "a",
  [],
  ["a", 1],
  {},
  { $ref: "a" },
);

/** Values that fit a schema, as far as schemas of configs go; nearly fitting ones among them. */
function valuesOf(schema: JsonObject): fc.Arbitrary<JsonValue> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...(schema.anyOf as JsonObject[]).map(valuesOf));
  const { minimum = 0, maximum = 10 } = schema as { minimum?: number; maximum?: number };
  switch (schema.type) {
    case "string":
      return typeof schema.pattern === "string" ? matching(schema.pattern) : text;
    case "integer":
      return fc.oneof(fc.integer({ min: minimum, max: minimum + 3 }), fc.integer({ min: minimum, max: maximum }));
    case "number":
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case "array":
      return fc.array(valuesOf(schema.items as JsonObject), { maxLength: 4 });
    case "object":
      return typeof schema.additionalProperties === "object"
        ? fc.dictionary(text, valuesOf(schema.additionalProperties as JsonObject), {
            maxKeys: 2,
            noNullPrototype: true,
          })
        : configsOf(schema);
    default:
      throw new Error(`This test makes no values for ${JSON.stringify(schema)} yet.`);
  }
}

/** A definition's text holds neither NUL nor half a surrogate pair, whatever its schema says. */
function matching(pattern: string): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(pattern)).filter((made) => made.isWellFormed() && !made.includes("\0"));
}

function propertiesOf(schema: JsonObject): Record<string, JsonObject> {
  return (schema.properties ?? {}) as Record<string, JsonObject>;
}

function requiredOf(schema: JsonObject): readonly string[] {
  return (schema.required ?? []) as string[];
}

function sectionOf(heading: string): string {
  const [, section] = docs.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`docs/executors.md has no section "${heading}".`);
  return section.split("\n## ")[0] ?? "";
}

function isPositive(count: number): boolean {
  return count > 0;
}
