import { describe, expect, test } from "vitest";
import {
  emptyDraft,
  jsonDraft,
  numberDraft,
  problemsOf,
  textOfDraft,
  Unfinished,
  variantOf,
  withPart,
} from "../../src/submit/draft.ts";
import { fieldOf, inputFieldOf, payloadFieldOf, type SchemaField } from "../../src/submit/schema-field.ts";

const field = (schema: unknown, definitions: Record<string, unknown> = {}) => fieldOf(schema, definitions, "", true, 0);

function definitionWith(schema: unknown, more: Record<string, unknown> = {}, first: object = {}): string {
  const inputDefinition = { $ref: "#/definitions/input" };
  return JSON.stringify({
    steps: [{ name: "a", integrationDetails: { inputDefinition }, ...first }],
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
  test("has the fields of the first step's input", () => {
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

  test("follows references to a definition's own `$defs`, and to itself", () => {
    const input = { $ref: "#/definitions/order" };
    const local = {
      properties: { line: { $ref: "#/$defs/line" } },
      $defs: { line: { title: "Line", type: "string" } },
    };
    const made = inputFieldOf(definitionWith(input, { order: { ...local, required: ["line"] } }));
    expect(made?.fields?.[0]).toMatchObject({ kind: "text", label: "Line" });
    expect(field({ $ref: "#/$defs/line", $defs: local.$defs })).toMatchObject({ kind: "text" });
    for (const $ref of ["#/$defs/other", "#", "https://example.org/line"])
      expect(field({ $ref, $defs: local.$defs })).toMatchObject({ kind: "json" });
    const recursive = field({ properties: { next: { $ref: "#" } } });
    expect(recursive.fields?.[0]?.fields?.[0]).toMatchObject({ kind: "object", name: "next" });
  });

  test.each([
    ["an open object without properties", { type: "object" }],
    ["no type at all", {}],
    ["all of several", { allOf: [{ type: "string" }, { minLength: 1 }] }],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }],
    ["one of several, beside other keywords", { anyOf: [{ required: ["a"] }], properties: { a: {}, b: {} } }],
    ["a reference to nothing", { $ref: "#/definitions/none" }],
    ["an invalid schema", true],
  ])("has a JSON field if the schema is %s", (_name, schema) => {
    expect(field(schema)).toMatchObject({ kind: "json" });
  });

  test.each([
    ["several types", { type: ["string", "null"], title: "Note" }],
    ["exactly one of several", { title: "Note", oneOf: [{ type: "string" }, { type: "null" }] }],
    ["one of several", { title: "Note", anyOf: [{ $ref: "#/definitions/text" }, { type: "null" }] }],
  ])("lets the user choose the kind of value if the schema is %s", (_name, schema) => {
    const made = field(schema, { text: { type: "string" } });
    expect(made).toMatchObject({ kind: "union", label: "Note" });
    expect(made.variants).toMatchObject([
      { kind: "text", label: "" },
      { kind: "null", label: "" },
    ]);
    expect(emptyDraft(made)).toBeUndefined();
    expect(problemsOf(made, undefined)).toEqual([{ pointer: "", kind: "missing" }]);
    expect(problemsOf(made, null)).toEqual([]);
  });

  test.each([
    ["truth value", { type: ["boolean", "null"] }, [false, true, null]],
    ["value of a list", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }, ["a", "b", null]],
  ])("offers null beside the other values if a %s can be null", (_name, schema, choices) => {
    expect(field(schema)).toMatchObject({ kind: "choice", choices });
  });

  test("distinguishes objects of a union by the property that has only one value", () => {
    const card = { properties: { type: { const: "card" }, number: { type: "string" } }, required: ["type", "number"] };
    const bill = { properties: { type: { const: "bill" }, days: { type: "integer" } }, required: ["type", "days"] };
    const made = field({ oneOf: [card, bill] });
    expect(made.variants?.map(emptyDraft)).toEqual([{ type: "card", number: "" }, { type: "bill" }]);
    expect(variantOf(made, { type: "bill", days: 3 })).toBe(made.variants?.[1]);
    expect(problemsOf(made, { type: "bill" })).toEqual([{ pointer: "/days", kind: "missing" }]);
    expect(problemsOf(made, { type: "bill", days: new Unfinished("x") })).toEqual([
      { pointer: "/days", kind: "unfinished", text: "x", of: "integer" },
    ]);
  });

  test("has a calendar for a date, and for a date with its time", () => {
    expect(field({ type: "string", format: "date" })).toMatchObject({ inputType: "date" });
    expect(field({ type: "string", format: "date-time" })).toMatchObject({ inputType: "datetime-local" });
  });

  test("chooses no value for the user, unless there is only one", () => {
    expect(emptyDraft(field({ enum: ["a", "b"] }))).toBeUndefined();
    expect(emptyDraft(field({ type: "boolean" }))).toBeUndefined();
    expect(emptyDraft(field({ const: "a" }))).toBe("a");
  });

  test("does not follow a recursive schema for ever", () => {
    const tree = { type: "object", properties: { child: { $ref: "#/definitions/tree" } } };
    expect(JSON.stringify(inputFieldOf(definitionWith({ $ref: "#/definitions/tree" }, { tree }))).length).toBeLessThan(
      5_000,
    );
    expect(field({ $ref: "#/definitions/a" }, { a: { $ref: "#/definitions/a" } })).toMatchObject({ kind: "json" });
  });

  test.each(["", "{", "[]", '{"steps": []}', "null"])("does not exist for the definition %j", (definition) => {
    expect(inputFieldOf(definition)).toBeUndefined();
  });

  test("does not exist if a template creates the first step's input, because the job's input is another value", () => {
    const input = { sku: `\${input.item}`, address: `\${input.to}` };
    expect(inputFieldOf(definitionWith(order, { address }, { input }))).toBeUndefined();
  });
});

describe("a draft", () => {
  const made = inputFieldOf(definitionWith(order, { address })) as SchemaField;

  test("begins with the required fields, and with defaults", () => {
    expect(emptyDraft(made)).toEqual({ sku: "", count: 1, address: { city: "" } });
    expect(emptyDraft(field({}))).toEqual({});
  });

  test("names the missing and unfinished values, by pointers", () => {
    expect(problemsOf(made, { sku: "A", address: { city: "Bern" } })).toEqual([]);
    const draft = { count: new Unfinished("1."), address: { zip: numberDraft("x", false) }, notes: ["a", undefined] };
    expect(problemsOf(made, draft)).toEqual([
      { pointer: "/sku", kind: "missing" },
      { pointer: "/count", kind: "unfinished", text: "1.", of: "integer" },
      { pointer: "/address/city", kind: "missing" },
      { pointer: "/address/zip", kind: "unfinished", text: "x", of: "number" },
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
    // JSON.stringify would turn this number into null.
    ["1e400", false, new Unfinished("1e400")],
  ])("reads the number %j (whole: %j)", (text, isInteger, value) => {
    expect(numberDraft(text, isInteger)).toEqual(value);
  });

  test("keeps unfinished JSON as it was typed", () => {
    expect(textOfDraft(jsonDraft('{"a":'))).toBe('{"a":');
    expect(jsonDraft('{"a": 1}')).toEqual({ a: 1 });
    expect(jsonDraft(" ")).toBeUndefined();
    expect(jsonDraft('{"a": 1e400}')).toEqual(new Unfinished('{"a": 1e400}'));
    expect(JSON.parse(textOfDraft({ count: new Unfinished("12a") }))).toEqual({ count: "12a" });
  });

  test("has properties with any name", () => {
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

  test("has the properties that the output definition declares and the input definition does not", () => {
    expect(asked({ eventIds: ["approved"] })).toEqual([
      ["approved", true],
      ["comment", false],
    ]);
  });

  test("requires nothing that another event can bring", () => {
    expect(asked({ eventIds: ["approved", "paid"] })).toEqual([
      ["approved", false],
      ["comment", false],
    ]);
  });

  test("follows the schema that `payloadDefinitions` has for the event", () => {
    const payloadDefinitions = { approved: { $ref: "#/definitions/reason" } };
    expect(asked({ eventIds: ["approved"], payloadDefinitions })).toEqual([["reason", true]]);
  });

  test("does not exist if an event can bring no property of the definition", () => {
    expect(asked({ eventIds: ["approved"] }, order)).toBeUndefined();
  });
});
