import { readFileSync } from "node:fs";
import { Validator } from "@cfworker/json-schema";
import { catalog, limits } from "@stepwell/testing/catalog.ts";
import { tries } from "@stepwell/testing/tries.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import type { Executor } from "../../../src/engine/executors/executor.ts";
import { AddressRule } from "../../../src/engine/outbound/address-rule.ts";

const permissive = executorCatalog(
  readConfig({ STEPWELL_ALLOW_FUNCTION_ENDPOINTS: "true", STEPWELL_ALLOW_FUNCTION_ROLES: "true" }),
);
const docs = readFileSync(new URL("../../../../../docs/executors.md", import.meta.url), "utf8");

describe.each([...catalog.values()])("$type", (executor) => {
  const { type, title, summary, configSchema } = executor;
  const fields = Object.entries(propertiesOf(configSchema));

  test("has a sentence that says what it does, and a description of each config field", () => {
    expect(title).toMatch(/^[A-Z]/);
    for (const text of [summary, ...fields.map(([, { description }]) => description)])
      expect(text).toMatch(/^[A-Z].*\.$/);
  });

  test("has a section in docs/executors.md, with each config field and whether it is required", () => {
    const documented = [...sectionOf(`${title}: \`${type}\``).matchAll(/^\| `(\w+)` \| (yes)? ?\|/gm)];
    expect(Object.fromEntries(documented.map(([, field, yes]) => [field, yes === "yes"]))).toEqual(
      Object.fromEntries(fields.map(([field]) => [field, requiredOf(configSchema).includes(field)])),
    );
  });

  test("has in docs/executors.md, beside each field that the operator must allow, the name of the setting", () => {
    for (const [field, setting] of executor.disallowedConfigFields ?? []) {
      expect(docs).toMatch(new RegExp(`^\\| \`${field}\` \\|.*\`${setting}=true\``, "m"));
    }
  });

  test.each([
    ["default settings", catalog],
    ["settings that allow all", permissive],
  ])(
    "under %s a config is registered exactly if its schema accepts it and no other rule forbids it",
    (_, executors) => {
      const kind = executors.get(type);
      if (kind === undefined) throw new Error("unreachable");
      const independent = new Validator(configSchema as object, "2020-12");
      const seen = { taken: 0, refused: 0 };
      fc.assert(
        fc.property(configsOf(configSchema), (config) => {
          const isTaken = problemsOf(config, type, executors).length === 0;
          seen[isTaken ? "taken" : "refused"] += 1;
          expect(isTaken).toBe(independent.validate(withTimes(config)).valid && !breaksRule(config, kind));
        }),
        { numRuns: tries(500) },
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

/** All rules by which registration is stricter than the schema of a config. Each function tells whether a config breaks the rule. */
const rules: readonly ((config: JsonObject, executor: Executor) => boolean)[] = [
  // A config may have certain fields only if the operator allows them.
  (config, { disallowedConfigFields = new Map() }) =>
    [...disallowedConfigFields.keys()].some((field) => field in config),
  // A version is named by its tag or by its number, not by both.
  (config, { type }) => type === "/service/job" && "tag" in config && "versionNumber" in config,
  // Each event id is listed once.
  ({ eventIds }) => Array.isArray(eventIds) && new Set(eventIds).size < eventIds.length,
  // A wait cannot require more events than it lists.
  ({ eventIds, match }) => Array.isArray(eventIds) && typeof match === "number" && match > eventIds.length,
  // Payloads are defined only for listed events, and by definitions that exist.
  ({ eventIds, payloadDefinitions = {} }) =>
    Object.entries(payloadDefinitions as Record<string, { $ref: string }>).some(
      ([id, { $ref }]) => !(eventIds as string[]).includes(id) || $ref !== "#/definitions/any",
    ),
  // A delay has exactly one time.
  (config, { behaviour }) => behaviour === "delay" && "seconds" in config === "until" in config,
  ({ endpoint }) => typeof endpoint === "string" && !URL.canParse(endpoint),
  // A request goes to a public address, unless an expression gives the address.
  ({ url }) => typeof url === "string" && !url.includes(`\${`) && !isCallable(url),
  // Header names must be valid.
  ({ headers = {} }) => Object.keys(headers as JsonObject).some((name) => !/^[\w$-]+$/.test(name)),
  // These methods have no body.
  ({ url, method = "GET", body }) => url !== undefined && body !== undefined && /^(GET|HEAD)$/.test(String(method)),
  // Branches begin at different steps.
  ({ branches }) =>
    new Set(startsIn({ branches: branches ?? {} })).size < startsIn({ branches: branches ?? {} }).length,
  // A branch begins at a step that exists.
  (config) => startsIn(config).some((step) => !innerSteps.includes(step)),
  // A number of allowed failures only makes sense when failures are collected.
  ({ maxFailures, onItemFailure }) => maxFailures !== undefined && onItemFailure !== "collect",
  // A role must belong to the account of the function.
  ({ roleArn, accountId }) => typeof roleArn === "string" && roleArn.split(":")[4] !== accountId,
];

/** Replaces expressions for times and lists by values that the schema accepts, because the schema describes the value that an expression gives. */
function withTimes(config: JsonObject): JsonObject {
  const times = { seconds: 1, until: "2026-01-31T12:00:00Z", items: [] };
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => [
      field,
      field in times && String(value).includes(`\${`) ? times[field as keyof typeof times] : value,
    ]),
  );
}

function isCallable(url: string): boolean {
  const parsed = /[\0- \x7f]/.test(url) ? null : URL.parse(url);
  return parsed !== null && new AddressRule([]).problemOf(parsed) === undefined;
}

function breaksRule(config: JsonObject, executor: Executor): boolean {
  return rules.some((rule) => rule(config, executor));
}

function problemsOf(config: JsonObject, type: string, executors: ReadonlyMap<string, Executor>) {
  const any = { $ref: "#/definitions/any" };
  const integrationDetails = { type, config, inputDefinition: any, outputDefinition: any };
  const inner = [...new Set(startsIn(config))].filter((step) => innerSteps.includes(step));
  const noop = { type: "/service/noop", inputDefinition: any, outputDefinition: any };
  const definition = {
    workflowName: "w",
    steps: [
      { name: "s", integrationDetails, input: {}, transitionToStep: null },
      ...inner.map((name) => ({ name, integrationDetails: noop, transitionToStep: null })),
    ],
    definitions: { any: {} },
  };
  const parsed = parseDefinition(JSON.stringify(definition), executors, limits);
  return "problems" in parsed ? parsed.problems : [];
}

/** The steps at which branches may begin. The definition has those that the config names. */
const innerSteps: readonly unknown[] = ["a", "b", "c"];

function startsIn({ branches = {}, step }: JsonObject): readonly JsonValue[] {
  const named = branches !== null && typeof branches === "object" ? Object.values(branches) : [];
  return step === undefined ? named : [...named, step];
}

/** Configs that usually fit the schema. Sometimes a field is missing, has another kind of value, or is unknown. */
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

const names = ["a", "b", "c", "#/definitions/any", "#/definitions/other", "", "x".repeat(257)];
/** Draws from a short list of texts, among them addresses. The list is short so that event ids repeat and match the names of payload definitions. */
const text = fc.constantFrom(...names, "https://example.com/a", "http://127.0.0.1/", `\${ input.url }`);
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

/** Makes values that fit a schema, and some that nearly fit. Knows only the kinds of schemas that configs have. */
function valuesOf(schema: JsonObject): fc.Arbitrary<JsonValue> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...(schema.anyOf as JsonObject[]).map(valuesOf));
  const { minimum = 0, maximum = 10 } = schema as { minimum?: number; maximum?: number };
  switch (schema.type) {
    case undefined:
      return anyValue;
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "string":
      if (schema.format === "date-time") return fc.oneof(fc.date({ noInvalidDate: true, ...years }).map(toTime), text);
      return typeof schema.pattern === "string" ? matching(schema.pattern) : text;
    case "integer":
      return fc.oneof(fc.integer({ min: minimum, max: minimum + 3 }), fc.integer({ min: minimum, max: maximum }));
    case "number":
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case "array":
      return fc.array(valuesOf((schema.items ?? {}) as JsonObject), { maxLength: 4 });
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

/** Times of RFC 3339 have four digits for the year. */
const years = { min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z") };
const toTime = (date: Date) => date.toISOString();

/** A text in a definition contains neither NUL nor half a surrogate pair, even if the pattern allows it. */
function matching(pattern: string): fc.Arbitrary<string> {
  // A text with `${` is an expression, to which the pattern does not apply.
  return fc
    .stringMatching(new RegExp(pattern))
    .filter((made) => made.isWellFormed() && !made.includes("\0") && !made.includes(`\${`));
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
