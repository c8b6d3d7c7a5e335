import { describe, expect, test } from "vitest";
import {
  emptyDraft,
  jsonDraft,
  numberDraft,
  problemsOf,
  textOfDraft,
  Unfinished,
  withPart,
} from "../../src/submit/draft.ts";
import { fieldOf, inputFieldOf, payloadFieldOf, type SchemaField } from "../../src/submit/schema-field.ts";

const field = (schema: unknown, definitions: Record<string, unknown> = {}) => fieldOf(schema, definitions, "", true, 0);

function definitionWith(schema: unknown, more: Record<string, unknown> = {}): string {
  const inputDefinition = { $ref: "#/definitions/input" };
  return JSON.stringify({
    steps: [{ name: "a", integrationDetails: { inputDefinition } }],
    definitions: { input: schema, ...more },
  });
}

const order = {
  type: "object",
  properties: {
    sku: { type: "string", description: "What is ordered" },
    count: { type: "integer", default: 1 },
    express: { type: "boolean" },
    colour: { enum: ["red", 7, null] },
    address: { $ref: "#/definitions/address" },
    notes: { type: "array", items: { type: "string" } },
  },
  required: ["sku", "address"],
  additionalProperties: false,
};
const address = {
  type: "object",
  properties: { city: { type: "string" }, zip: { type: "number" } },
  required: ["city"],
};

describe("a form", () => {
  test("asks for what the first step takes", () => {
    const made = inputFieldOf(definitionWith(order, { address }));
    expect(made?.fields?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ["sku", "text", true],
      ["count", "integer", false],
      ["express", "boolean", false],
      ["colour", "choice", false],
      ["address", "object", true],
      ["notes", "list", false],
    ]);
    expect(made?.fields?.[0]).toMatchObject({ hint: "What is ordered" });
    expect(made?.fields?.[5]?.item).toMatchObject({ kind: "text" });
  });

  test.each([
    ["an open object without properties", { type: "object" }],
    ["no type at all", {}],
    ["several types", { type: ["string", "null"] }],
    ["one of several", { anyOf: [{ type: "string" }] }],
    ["a reference to nothing", { $ref: "#/definitions/none" }],
    ["what is no schema", true],
  ])("asks for JSON where the schema is %s", (_name, schema) => {
    expect(field(schema)).toMatchObject({ kind: "json" });
  });

  test("does not follow a schema that holds itself for ever", () => {
    const tree = { type: "object", properties: { child: { $ref: "#/definitions/tree" } } };
    expect(JSON.stringify(inputFieldOf(definitionWith({ $ref: "#/definitions/tree" }, { tree }))).length).toBeLessThan(
      5_000,
    );
    expect(field({ $ref: "#/definitions/a" }, { a: { $ref: "#/definitions/a" } })).toMatchObject({ kind: "json" });
  });

  test.each(["", "{", "[]", '{"steps": []}', "null"])("is none for the definition %j", (definition) => {
    expect(inputFieldOf(definition)).toBeUndefined();
  });
});

describe("a draft", () => {
  const made = inputFieldOf(definitionWith(order, { address })) as SchemaField;

  test("begins with what must be there, and with defaults", () => {
    expect(emptyDraft(made)).toEqual({ sku: "", count: 1, address: { city: "" } });
    expect(emptyDraft(field({}))).toEqual({});
  });

  test("says what is missing or is not finished, by pointers", () => {
    expect(problemsOf(made, { sku: "A", address: { city: "Bern" } })).toEqual([]);
    const draft = { count: new Unfinished("1."), address: { zip: numberDraft("x", false) }, notes: ["a", undefined] };
    expect(problemsOf(made, draft)).toEqual([
      { pointer: "/sku", kind: "missing" },
      { pointer: "/count", kind: "unfinished" },
      { pointer: "/address/city", kind: "missing" },
      { pointer: "/address/zip", kind: "unfinished" },
      { pointer: "/notes/1", kind: "missing" },
    ]);
  });

  test.each([
    ["12", true, 12],
    ["-3", true, -3],
    ["1.5", true, new Unfinished("1.5")],
    ["1.5e3", false, 1500],
    ["  ", false, undefined],
    ["1,5", false, new Unfinished("1,5")],
    ["0x10", false, new Unfinished("0x10")],
    // In JSON it would be null.
    ["1e400", false, new Unfinished("1e400")],
  ])("reads the number %j (whole: %j)", (text, isInteger, value) => {
    expect(numberDraft(text, isInteger)).toEqual(value);
  });

  test("keeps JSON that is not finished as it was typed", () => {
    expect(textOfDraft(jsonDraft('{"a":'))).toBe('{"a":');
    expect(jsonDraft('{"a": 1}')).toEqual({ a: 1 });
    expect(jsonDraft(" ")).toBeUndefined();
    expect(jsonDraft('{"a": 1e400}')).toEqual(new Unfinished('{"a": 1e400}'));
    expect(JSON.parse(textOfDraft({ count: new Unfinished("12a") }))).toEqual({ count: "12a" });
  });

  test("has parts with any name", () => {
    const draft = withPart({ a: 1 }, "__proto__", 2) as object;
    expect(Object.entries(draft)).toEqual([
      ["a", 1],
      ["__proto__", 2],
    ]);
    expect(withPart(draft, "a", undefined)).not.toHaveProperty("a");
  });
});

describe("the form of an event's payload", () => {
  const order = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };
  const decided = {
    type: "object",
    properties: { sku: { type: "string" }, approved: { type: "boolean" }, comment: { type: "string" } },
    required: ["sku", "approved"],
  };
  const reason = { type: "object", properties: { reason: { type: "string" } }, required: ["reason"] };

  function asked(config: object, output: object = decided) {
    const details = { config, inputDefinition: { $ref: "#/definitions/order" }, outputDefinition: output };
    const steps = [{ name: "approve", integrationDetails: details }];
    const field = payloadFieldOf(JSON.stringify({ steps, definitions: { order, reason } }), "approve", "approved");
    return field?.fields?.map(({ name, isRequired }) => [name, isRequired]);
  }

  test("asks for what the output definition declares and the input definition does not", () => {
    expect(asked({ eventIds: ["approved"] })).toEqual([
      ["approved", true],
      ["comment", false],
    ]);
  });

  test("requires nothing that another event may bring", () => {
    expect(asked({ eventIds: ["approved", "paid"] })).toEqual([
      ["approved", false],
      ["comment", false],
    ]);
  });

  test("asks for what `payloadDefinitions` says of the event", () => {
    const payloadDefinitions = { approved: { $ref: "#/definitions/reason" } };
    expect(asked({ eventIds: ["approved"], payloadDefinitions })).toEqual([["reason", true]]);
  });

  test("is missing where an event can bring nothing that the definition declares", () => {
    expect(asked({ eventIds: ["approved"] }, order)).toBeUndefined();
  });
});
