import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { type Problem, ProblemList } from "../../../src/core/problem.ts";
import { checkValue, parseSchema, parseSchemas } from "../../../src/core/schema/schema.ts";
import { schemaOf } from "./schema-arbitraries.ts";

function problemsOf(definitions: JsonObject): Problem[] {
  const problems = new ProblemList(100);
  parseSchemas(definitions, "/definitions", problems);
  return problems.toArray();
}

describe("a schema is refused, with the keyword's place, when it", () => {
  test.each<[string, JsonValue, string, string]>([
    ["is no schema", "string", "", "must be a schema"],
    ["is null", null, "", "must be a schema"],
    ["has an unknown keyword", { minLenght: 1 }, "/minLenght", "did you mean `minLength`?"],
    ["has a keyword of JSON Schema that is not checked", { contains: {} }, "/contains", "`contains` is not a keyword"],
    [
      "has an unknown keyword, and the message lists the allowed ones",
      { foo: 1 },
      "/foo",
      "(type, enum, const, minimum,",
    ],
    ["has the keyword of an older version", { definitions: {} }, "/definitions", "belong in `$defs`"],
    ["has the keyword of another dialect", { nullable: true }, "/nullable", 'add "null" to `type`'],
    [
      "has an unknown keyword deep inside",
      { items: { properties: { a: { x: 1 } } } },
      "/items/properties/a/x",
      "is not",
    ],
    ["has an unknown type", { type: "int" }, "/type", "`int` is not a type"],
    ["has a type that is no name", { type: [1] }, "/type", "a number is not a type"],
    ["lists no type", { type: [] }, "/type", "must name a type"],
    ["lists a type twice", { type: ["null", "null"] }, "/type", "must name a type"],
    ["has properties that are no object", { properties: [] }, "/properties", "but is an array"],
    ["has a property that is no schema", { properties: { "a/b": 1 } }, "/properties/a~1b", "must be a schema"],
    ["has a `required` that is no list", { required: true }, "/required", "a list of different strings"],
    ["requires a number", { required: [1] }, "/required", "a list of different strings"],
    ["requires a name twice", { required: ["a", "a"] }, "/required", "a list of different strings"],
    [
      "requires a forbidden property",
      { properties: { sku: {} }, required: ["skus"], additionalProperties: false },
      "/required/0",
      "did you mean `sku`?",
    ],
    ["has a broken additionalProperties", { additionalProperties: "no" }, "/additionalProperties", "must be a schema"],
    ["has a list of item schemas", { items: [{}] }, "/items", "belongs in `prefixItems`"],
    ["has an empty prefix", { prefixItems: [] }, "/prefixItems", "one schema or more"],
    ["has a uniqueItems that is no boolean", { uniqueItems: 1 }, "/uniqueItems", "true or false"],
    ["has a multipleOf of 0", { multipleOf: 0 }, "/multipleOf", "a number above 0"],
    [
      "has a minProperties over its maxProperties",
      { minProperties: 2, maxProperties: 1 },
      "/minProperties",
      "is more than `maxProperties`",
    ],
    ["has a broken schema for names", { propertyNames: 1 }, "/propertyNames", "must be a schema"],
    ["has an invalid pattern for names", { patternProperties: { "(": {} } }, "/patternProperties/(", "RE2 syntax"],
    ["has a broken schema for a pattern", { patternProperties: { a: 1 } }, "/patternProperties/a", "must be a schema"],
    ["has dependents that are no list", { dependentRequired: { a: "b" } }, "/dependentRequired/a", "different strings"],
    ["has an empty allOf", { allOf: [] }, "/allOf", "one schema or more"],
    ["has a broken schema in oneOf", { oneOf: [{}, null] }, "/oneOf/1", "must be a schema"],
    ["has a broken not", { not: { minLenght: 1 } }, "/not/minLenght", "did you mean `minLength`?"],
    ["has a broken condition", { if: 1, then: {} }, "/if", "must be a schema"],
    ["has a broken branch without a condition", { else: 1 }, "/else", "must be a schema"],
    ["has $defs that are no object", { $defs: [] }, "/$defs", "must be an object of schemas"],
    [
      "has $defs in a part of it",
      { not: { $defs: { a: {} } } },
      "/not/$defs",
      "is allowed only at the top of a schema of `definitions`",
    ],
    ["has a broken schema in $defs", { $defs: { a: { type: "int" } } }, "/$defs/a/type", "`int` is not a type"],
    ["has examples that are no list", { examples: "a" }, "/examples", "a list of values"],
    ["has a comment that is no text", { $comment: 1 }, "/$comment", "must be a string"],
    ["has a `deprecated` that is no boolean", { deprecated: "yes" }, "/deprecated", "true or false"],
    ["has an enum that is no list", { enum: "a" }, "/enum", "must be a list"],
    ["has an empty enum", { enum: [] }, "/enum", "one value or more"],
    ["has a const outside of its enum", { enum: ["a"], const: "b" }, "/const", "is not among"],
    ["has a minimum that is no number", { minimum: "1" }, "/minimum", "must be a number"],
    ["has a minimum over its maximum", { minimum: 2, maximum: 1 }, "/minimum", "is more than `maximum`"],
    [
      "has exclusive bounds without a value between them",
      { exclusiveMinimum: 1, exclusiveMaximum: 1 },
      "/exclusiveMinimum",
      "leaves no number",
    ],
    [
      "has an exclusive maximum at its minimum",
      { minimum: 1, exclusiveMaximum: 1 },
      "/exclusiveMaximum",
      "leaves no number",
    ],
    ["has a negative length", { minLength: -1 }, "/minLength", "a whole number, 0 or more"],
    ["has a broken length", { maxLength: 1.5 }, "/maxLength", "a whole number, 0 or more"],
    ["has a minLength over its maxLength", { minLength: 2, maxLength: 1 }, "/minLength", "is more than `maxLength`"],
    ["has a minItems over its maxItems", { minItems: 2, maxItems: 1 }, "/minItems", "is more than `maxItems`"],
    ["has a pattern that is no text", { pattern: 1 }, "/pattern", "must be a string"],
    ["has a broken pattern", { pattern: "[a" }, "/pattern", "is not a regular expression"],
    ["has a look-ahead, which RE2 has not", { pattern: "(?=a)b" }, "/pattern", "is not a regular expression"],
    ["has a back-reference, which RE2 has not", { pattern: "(a)\\1" }, "/pattern", "is not a regular expression"],
    [
      "has a pattern that is too large",
      { pattern: "([a-z]{100}){30}" },
      "/pattern",
      "3093 characters, classes and branches",
    ],
    ["has a pattern that is too long", { pattern: "a|".repeat(600) }, "/pattern", "longer than 1000 characters"],
    ["has a quoting in a pattern", { pattern: "\\Qa\\E" }, "/pattern", "one by one"],
    ["has an unknown format", { format: "datetime" }, "/format", "did you mean `date-time`?"],
    ["names a format after a method", { format: "toString" }, "/format", "is not a format"],
    ["has no alternative", { anyOf: [] }, "/anyOf", "one schema or more"],
    ["has alternatives that are no list", { anyOf: {} }, "/anyOf", "one schema or more"],
    ["has a broken alternative", { anyOf: [{}, 1] }, "/anyOf/1", "must be a schema"],
    ["has a title that is no text", { title: 1 }, "/title", "must be a string"],
    ["has a sensitive that is no boolean", { "x-sensitive": "yes" }, "/x-sensitive", "true or false"],
  ])("%s", (_, raw, pointer, words) => {
    const problems = problemsOf({ subject: raw });
    expect(problems).toEqual([{ pointer: `/definitions/subject${pointer}`, detail: expect.stringContaining(words) }]);
  });

  test("has several mistakes, which are all reported", () => {
    const raw = { type: "int", minLenght: 1, properties: { a: { maximum: "x" }, b: { $ref: "#/definitions/nope" } } };
    expect(problemsOf({ subject: raw }).map(({ pointer }) => pointer.replace("/definitions/subject", ""))).toEqual([
      "/minLenght",
      "/type",
      "/properties/a/maximum",
      "/properties/b/$ref",
    ]);
  });
});

describe("a $ref", () => {
  test.each<[string, JsonValue, string]>([
    ["to nowhere", "#/definitions/ordr", "there is no definition `ordr`; did you mean `order`?"],
    ["into a definition", "#/definitions/order/properties/a", "leads nowhere"],
    ["to the definition itself", "#", "circle"],
    ["to all definitions", "#/definitions/", "leads nowhere"],
    ["to $defs that are not there", "#/$defs/order", "the `$defs` of this schema have no entry with the name `order`"],
    ["into $defs", "#/$defs/order/items", "leads nowhere"],
    ["to the cloud's metadata", "http://169.254.169.254/latest/meta-data/", "other forms are not supported"],
    ["to a file", "file:///etc/passwd", "other forms are not supported"],
    ["with a broken escape", "#/definitions/order~2", "leads nowhere"],
    ["that is no text", 1, "must be a string, but is a number"],
  ])("%s is refused and never followed", (_, target, words) => {
    expect(problemsOf({ order: {}, subject: { $ref: target } })).toEqual([
      { pointer: "/definitions/subject/$ref", detail: expect.stringContaining(words) },
    ]);
  });

  test.each([
    ["plain", "order", "#/definitions/order"],
    ["with a slash", "a/b", "#/definitions/a~1b"],
    ["with a tilde", "a~b", "#/definitions/a~0b"],
    ["with a space, written as a URI", "my order", "#/definitions/my%20order"],
    ["with a space, written as it is", "my order", "#/definitions/my order"],
    ["with a percent sign", "100%", "#/definitions/100%"],
    ["like a method", "toString", "#/definitions/toString"],
  ])("refers to the definition with this name: %s", (_, name, target) => {
    const subject = schemaOf({ $ref: target }, { [name]: { type: "null" } });
    expect(checkValue(subject, 1)).toHaveLength(1);
    expect(checkValue(subject, null)).toHaveLength(0);
  });

  test("in a schema that stands alone refers only to its own `$defs`", () => {
    expect(parseSchema({ $ref: "#/definitions/a" })).toMatchObject({ problems: [{ pointer: "/$ref" }] });
    expect(parseSchema({ $ref: "#/$defs/a", $defs: { a: {} } })).toHaveProperty("schema");
  });

  test("to `#/$defs` refers to those of its own definition", () => {
    const local = (type: string) => ({ $ref: "#/$defs/local", $defs: { local: { type } } });
    const subject = schemaOf(
      { prefixItems: [{ $ref: "#/definitions/other" }, { $ref: "#/$defs/local" }], ...defs },
      {
        other: local("string"),
      },
    );
    expect(checkValue(subject, ["a", 1])).toEqual([]);
    expect(checkValue(subject, [1, "a"]).map(({ pointer }) => pointer)).toEqual(["/0", "/1"]);
  });

  test("beside `allOf` applies as well", () => {
    const subject = schemaOf({ $ref: "#/definitions/other", allOf: [{ maxLength: 3 }] }, { other: { minLength: 2 } });
    expect(["a", "ab", "abcd"].map((text) => checkValue(subject, text).length)).toEqual([1, 0, 1]);
  });

  test.each<[string, JsonObject]>([
    ["to itself", { a: { $ref: "#/definitions/a" } }],
    ["in a circle of two", { a: { $ref: "#/definitions/b" }, b: { $ref: "#/definitions/a" } }],
    ["back through anyOf", { a: { anyOf: [{ type: "null" }, { $ref: "#/definitions/a" }] } }],
    ["back through allOf", { a: { allOf: [{ $ref: "#/definitions/a" }] } }],
    ["back through oneOf", { a: { oneOf: [{ type: "null" }, { $ref: "#" }] } }],
    ["back through not", { a: { not: { $ref: "#" } } }],
    ["back through a condition", { a: { if: { $ref: "#" }, then: {} } }],
    ["back through a branch", { a: { if: {}, else: { $ref: "#/$defs/b" }, $defs: { b: { $ref: "#" } } } }],
    ["to itself from inside", { a: { anyOf: [{ anyOf: [{ $ref: "#/definitions/a" }] }] } }],
  ])("that leads %s without an inner value is rejected", (_, definitions) => {
    const problems = problemsOf(definitions);
    expect(problems.length).toBeGreaterThan(0);
    for (const { detail } of problems) expect(detail).toContain("circle");
  });

  test.each<[string, JsonObject]>([
    ["a property", { a: { properties: { next: { $ref: "#/definitions/a" } } } }],
    ["an item", { a: { items: { $ref: "#/definitions/a" } } }],
    ["additional properties", { a: { additionalProperties: { $ref: "#/definitions/a" } } }],
    ["an item of a prefix", { a: { prefixItems: [{ $ref: "#" }] } }],
    ["a property under a pattern", { a: { patternProperties: { x: { $ref: "#" } } } }],
    ["a name, which is no object", { a: { propertyNames: { $ref: "#" } } }],
    ["an alternative's property", { a: { anyOf: [{ properties: { next: { $ref: "#/definitions/a" } } }] } }],
  ])("may lead back to itself through %s", (_, definitions) => {
    expect(problemsOf(definitions)).toEqual([]);
  });

  test("can follow another sixteen times at most", () => {
    const chain = (length: number): JsonObject =>
      Object.fromEntries(
        Array.from({ length: length + 1 }, (_, index) => [
          `d${index}`,
          index === length ? {} : { $ref: `#/definitions/d${index + 1}` },
        ]),
      );
    expect(problemsOf(chain(16))).toEqual([]);
    expect(problemsOf(chain(17))).toEqual([
      { pointer: "/definitions/d0/$ref", detail: expect.stringContaining("16 schemas in a row") },
    ]);
    expect(problemsOf(chain(10_000))).toHaveLength(1);
  });
});

describe("a pattern", () => {
  test.each([
    ["a UUID", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"],
    ["an identifier of any allowed length", "^[A-Za-z0-9_-]{1,256}$"],
    ["a Unicode class", "^\\p{Greek}{1,50}$"],
    ["a character by its number", "^\\x{10FFFF}?$"],
    ["a class with brackets in it", "^[]\\]x[:alpha:]]{1,100}$"],
    ["braces that repeat nothing", "^{a}{,5}$"],
    ["groups and flags", "(?i)^(?P<area>[a-z]{2}(?:-[0-9]{1,3}){1,4})$"],
  ])("may be %s", (_, pattern) => {
    expect(problemsOf({ subject: { pattern } })).toEqual([]);
  });

  test("is rejected if it makes the definition's patterns too large together", () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`d${index}`, { pattern: `^[a-z]{${200 + index}}$` }]),
    );
    const problems = problemsOf(definitions);
    expect(problems.length).toBeGreaterThan(50);
    expect(problems[0]?.detail).toContain("too large together");
  });

  test("counts once, even if it is in many places", () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`d${index}`, { pattern: "^[a-z]{1,200}$" }]),
    );
    expect(problemsOf(definitions)).toEqual([]);
  });
});

test("a schema that a tool exported as a document can be pasted unchanged", () => {
  const exported: JsonObject = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.org/order.json",
    title: "Order",
    type: "object",
    properties: {
      lines: { type: "array", items: { $ref: "#/$defs/Line" }, minItems: 1 },
      replaces: { anyOf: [{ $ref: "#" }, { type: "null" }], default: null },
    },
    required: ["lines"],
    additionalProperties: false,
    $defs: {
      Line: { type: "object", properties: { sku: { $ref: "#/$defs/Sku" } }, required: ["sku"], readOnly: true },
      Sku: { type: "string", pattern: "^[A-Z]{3}$", examples: ["ABC"] },
    },
  };
  const order = schemaOf({ $ref: "#/definitions/order" }, { order: exported });
  expect(checkValue(order, { lines: [{ sku: "ABC" }], replaces: { lines: [{ sku: "DEF" }] } })).toEqual([]);
  expect(checkValue(order, { lines: [{ sku: "abc" }] })).toEqual([
    { pointer: "/lines/0/sku", detail: "must match the pattern ^[A-Z]{3}$" },
  ]);
});

test("only the first unknown keyword gets the list of known keywords", () => {
  const [first, second] = problemsOf({ one: { foo: 1 }, two: { bar: 1 } });
  expect(first?.detail).toContain("x-sensitive, title");
  expect(second?.detail).toBe("`bar` is not a keyword that schemas may use here");
});

test("too many patterns beside too many declared properties are rejected in a new definition only", () => {
  const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`property${index}`, {}]));
  const patternProperties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`^x${index}`, {}]));
  const definitions = { subject: { properties, patternProperties } };
  expect(problemsOf(definitions)).toEqual([
    { pointer: "/definitions/subject/patternProperties", detail: expect.stringContaining("too many patterns") },
  ]);
  const problems = new ProblemList(100);
  parseSchemas(definitions, "", problems, true);
  expect(problems.toArray()).toEqual([]);
});

const defs: JsonObject = { $defs: { local: { type: "number" } } };

test("annotations are accepted and change nothing", () => {
  const raw = {
    title: "t",
    description: "d",
    default: { any: ["thing"] },
    examples: [1],
    deprecated: true,
    readOnly: true,
    writeOnly: false,
    $comment: "c",
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "urn:x",
  };
  expect(checkValue(schemaOf(raw), { x: 1 })).toEqual([]);
});
