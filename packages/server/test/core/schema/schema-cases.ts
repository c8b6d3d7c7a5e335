import type { JsonValue } from "../../../src/core/json/json.ts";

/** What the standard says about one schema: values that fit it, and values that do not. */
export interface SchemaCase {
  readonly fact: string;
  readonly schema: JsonValue;
  readonly fit: readonly JsonValue[];
  readonly misfit: readonly JsonValue[];
}

const ofEachType: readonly JsonValue[] = [null, true, 1, 1.5, "text", ["item"], { name: "value" }];
const isNo = (type: string): ((value: JsonValue) => boolean) => {
  const types: Readonly<Record<string, (value: JsonValue) => boolean>> = {
    string: (value) => typeof value === "string",
    number: (value) => typeof value === "number",
    array: Array.isArray,
    object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  };
  return (value) => types[type]?.(value) !== true;
};
const all = (...more: JsonValue[]) => [...ofEachType, ...more];
/** A keyword for one type does not restrict values of other types. */
const others = (type: string) => ofEachType.filter(isNo(type));

/** The cases by keyword. The specification of draft 2020-12 states each fact, and its test suite checks it too. */
export const casesByKeyword: Readonly<Record<string, readonly SchemaCase[]>> = {
  "true and false": [
    { fact: "true takes everything", schema: true, fit: all([], {}), misfit: [] },
    { fact: "false takes nothing", schema: false, fit: [], misfit: all([], {}) },
    { fact: "an empty schema takes everything", schema: {}, fit: all(), misfit: [] },
  ],
  type: [
    {
      fact: "an integer is a number without a fraction, however it is written",
      schema: { type: "integer" },
      fit: [0, -3, 1.0, 1e3],
      misfit: [1.1, "1", null, true, [], {}],
    },
    {
      fact: "a number may have a fraction",
      schema: { type: "number" },
      fit: [0, 1.5, -1e-3],
      misfit: ["1", null, false, [1], {}],
    },
    {
      fact: "a string that looks like another type is a string",
      schema: { type: "string" },
      fit: ["", "1", "null"],
      misfit: [1, null, true, ["a"], { a: "a" }],
    },
    {
      fact: "an object is no array",
      schema: { type: "object" },
      fit: [{}, { a: 1 }],
      misfit: [[], null, "{}", 1, true],
    },
    { fact: "an array is no object", schema: { type: "array" }, fit: [[], [1]], misfit: [{}, null, "[]", 0, false] },
    {
      fact: "a boolean is none of the values that stand for one elsewhere",
      schema: { type: "boolean" },
      fit: [true, false],
      misfit: [0, 1, "", "true", null, [], {}],
    },
    {
      fact: "null is none of the values that are empty",
      schema: { type: "null" },
      fit: [null],
      misfit: [0, "", false, [], {}],
    },
    {
      fact: "of several types one is enough",
      schema: { type: ["integer", "null"] },
      fit: [1, null],
      misfit: [1.5, "", true, [], {}],
    },
    { fact: "a list of one type is that type", schema: { type: ["object"] }, fit: [{}], misfit: [[], 1, null] },
  ],
  enum: [
    {
      fact: "only the listed values fit",
      schema: { enum: ["red", 7, null] },
      fit: ["red", 7, null],
      misfit: ["blue", 8, "7", false, [], {}],
    },
    {
      fact: "compound values are compared deeply, whatever the order of keys",
      schema: { enum: [{ a: [1, { b: null }], c: 2 }] },
      fit: [{ c: 2, a: [1, { b: null }] }],
      misfit: [
        { a: [1, {}], c: 2 },
        { a: [{ b: null }, 1], c: 2 },
        { a: [1, { b: null }], c: 2, d: 3 },
      ],
    },
    { fact: "false is not 0, true is not 1", schema: { enum: [false, 1] }, fit: [false, 1, 1.0], misfit: [0, true] },
    {
      fact: "a list with false in it is not one with 0 in it",
      schema: { enum: [[false]] },
      fit: [[false]],
      misfit: [[0], [], false],
    },
    {
      fact: "text may hold anything",
      schema: { enum: ["a\nb", "hello \u00e9", "\u{1f600}"] },
      fit: ["a\nb", "\u{1f600}"],
      misfit: ["a b", "\u{1f601}"],
    },
    {
      fact: "a schema among the values is a value",
      schema: { enum: [{ $ref: "#/$defs/a" }] },
      fit: [{ $ref: "#/$defs/a" }],
      misfit: ["a", {}],
    },
  ],
  const: [
    { fact: "only this value fits", schema: { const: 2 }, fit: [2, 2.0], misfit: [5, "2", true, null] },
    {
      fact: "an object is compared deeply",
      schema: { const: { a: 1, b: [2] } },
      fit: [{ b: [2], a: 1 }],
      misfit: [{ a: 1 }, { a: 1, b: [2], c: 3 }, [1, [2]]],
    },
    { fact: "null is a value", schema: { const: null }, fit: [null], misfit: [0, false, ""] },
    { fact: "true is not 1", schema: { const: true }, fit: [true], misfit: [1, "true"] },
    {
      fact: "an object whose value is true is not one whose value is 1",
      schema: { const: { a: true } },
      fit: [{ a: true }],
      misfit: [{ a: 1 }],
    },
    { fact: "0 is -0 and 0.0", schema: { const: 0 }, fit: [0, -0], misfit: [false, [], "0"] },
    { fact: "an empty list is an empty list", schema: { const: [] }, fit: [[]], misfit: [{}, [[]], null] },
  ],
  minimum: [
    {
      fact: "the bound itself fits",
      schema: { minimum: 1.1 },
      fit: [1.1, 2, ...others("number")],
      misfit: [1, 0.6, -5],
    },
  ],
  maximum: [
    {
      fact: "the bound itself fits",
      schema: { maximum: -2 },
      fit: [-2, -3.5, ...others("number")],
      misfit: [-1.99, 0],
    },
  ],
  exclusiveMinimum: [
    {
      fact: "the bound itself does not fit",
      schema: { exclusiveMinimum: 0 },
      fit: [0.1, 7, ...others("number")],
      misfit: [0, -1],
    },
  ],
  exclusiveMaximum: [
    {
      fact: "the bound itself does not fit",
      schema: { exclusiveMaximum: 3.0 },
      fit: [2.9, -3, ...others("number")],
      misfit: [3, 3.1],
    },
  ],
  multipleOf: [
    {
      fact: "of a whole number",
      schema: { multipleOf: 7 },
      fit: [0, 14, -21, ...others("number")],
      misfit: [13, 7.5, 1],
    },
    { fact: "of a number with a fraction", schema: { multipleOf: 1.5 }, fit: [0, 4.5, 3], misfit: [35, 1] },
    {
      fact: "of a small number, as the numbers are written",
      schema: { multipleOf: 0.0001 },
      fit: [0.0075, 19.99, 3],
      misfit: [0.00751],
    },
    {
      fact: "of a very small number",
      schema: { type: "integer", multipleOf: 1e-8 },
      fit: [12391239123, 0],
      misfit: [0.5],
    },
    { fact: "of a number that is larger", schema: { multipleOf: 10 }, fit: [0, 1e300], misfit: [5, 1e-300] },
  ],
  minLength: [
    { fact: "counts characters", schema: { minLength: 2 }, fit: ["ab", "abc", ...others("string")], misfit: ["a", ""] },
    {
      fact: "counts a character outside the basic plane once",
      schema: { minLength: 2 },
      fit: ["\u{1f600}\u{1f600}"],
      misfit: ["\u{1f600}"],
    },
  ],
  maxLength: [
    {
      fact: "counts characters",
      schema: { maxLength: 2 },
      fit: ["ab", "", ...others("string").filter((value) => value !== "text")],
      misfit: ["abc"],
    },
    {
      fact: "counts a character outside the basic plane once",
      schema: { maxLength: 2 },
      fit: ["\u{1f600}\u{1f600}"],
      misfit: ["\u{1f600}\u{1f600}a"],
    },
  ],
  pattern: [
    {
      fact: "is anchored only where it says so",
      schema: { pattern: "b+" },
      fit: ["abbc", "b", ...others("string")],
      misfit: ["ac", ""],
    },
    { fact: "may be anchored at both ends", schema: { pattern: "^a*$" }, fit: ["", "aaa"], misfit: ["ab"] },
    { fact: "matches characters, not halves of them", schema: { pattern: "^.$" }, fit: ["\u{1f600}"], misfit: ["ab"] },
  ],
  format: [
    { fact: "says nothing of other types", schema: { format: "ipv4" }, fit: others("string"), misfit: ["text"] },
  ],
  items: [
    {
      fact: "each item must fit",
      schema: { items: { type: "integer" } },
      fit: [[], [1, 2], ...others("array")],
      misfit: [[1, "a"], ["a"]],
    },
    {
      fact: "an object that looks like an array has no items",
      schema: { items: false },
      fit: [{ "0": "a", length: 1 }, []],
      misfit: [[1]],
    },
    { fact: "true lets every item through", schema: { items: true }, fit: [[], [1, "a", null]], misfit: [] },
    {
      fact: "applies at every level where it stands",
      schema: { items: { items: { type: "null" } } },
      fit: [[[null], []], [1]],
      misfit: [[[1]]],
    },
    {
      fact: "begins behind the prefix",
      schema: { prefixItems: [{}, {}], items: { type: "integer" } },
      fit: [
        ["a", null],
        ["a", null, 1],
      ],
      misfit: [["a", null, "b"]],
    },
    {
      fact: "false behind a prefix ends the array",
      schema: { prefixItems: [{}], items: false },
      fit: [[], ["a"]],
      misfit: [["a", "b"]],
    },
    {
      fact: "applies to all items, even if a schema beside it has `prefixItems`",
      schema: { allOf: [{ prefixItems: [{ minimum: 3 }] }], items: { minimum: 5 } },
      fit: [[5, 5]],
      misfit: [[3, 5]],
    },
  ],
  prefixItems: [
    {
      fact: "each of the first items has its schema",
      schema: { prefixItems: [{ type: "integer" }, { type: "string" }] },
      fit: [[1, "a"], [1], [], [1, "a", true], ...others("array")],
      misfit: [["a", 1], ["a"]],
    },
    {
      fact: "true and false stand for schemas",
      schema: { prefixItems: [true, false] },
      fit: [[], [1]],
      misfit: [[1, 2]],
    },
  ],
  minItems: [{ fact: "counts items", schema: { minItems: 1 }, fit: [[1], [null], ...others("array")], misfit: [[]] }],
  maxItems: [{ fact: "counts items", schema: { maxItems: 1 }, fit: [[], [1], ...others("array")], misfit: [[1, 2]] }],
  uniqueItems: [
    {
      fact: "no two items are equal",
      schema: { uniqueItems: true },
      fit: [[], [1], [1, 2], ["a", "b"], ...others("array")],
      misfit: [
        [1, 1],
        [1, 2, 1],
        ["a", "b", "a"],
      ],
    },
    {
      fact: "numbers are equal by value",
      schema: { uniqueItems: true },
      fit: [[1, 1.5]],
      misfit: [
        [1.0, 1],
        [0, -0],
      ],
    },
    {
      fact: "false is not 0, true is not 1, and neither is a text",
      schema: { uniqueItems: true },
      fit: [
        [0, false, "0"],
        [1, true, "1"],
        [[0], [false]],
        [{ a: 1 }, { a: true }],
      ],
      misfit: [[true, true]],
    },
    {
      fact: "objects are equal whatever the order of their keys",
      schema: { uniqueItems: true },
      fit: [
        [{ a: 1 }, { a: 2 }],
        [{ a: 1 }, { b: 1 }],
      ],
      misfit: [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        [{ a: { b: [1] } }, 3, { a: { b: [1] } }],
      ],
    },
    {
      fact: "lists are equal item by item, in their order",
      schema: { uniqueItems: true },
      fit: [
        [
          [1, 2],
          [2, 1],
        ],
        [[], [[]]],
      ],
      misfit: [
        [
          [1, 2],
          [1, 2],
        ],
      ],
    },
    {
      fact: "null is an item as others are",
      schema: { uniqueItems: true },
      fit: [[null, 0, ""]],
      misfit: [[null, null]],
    },
    { fact: "false asks for nothing", schema: { uniqueItems: false }, fit: [[1, 1]], misfit: [] },
    {
      fact: "looks at the items of the prefix, too",
      schema: { prefixItems: [{ type: "boolean" }, { type: "boolean" }], uniqueItems: true },
      fit: [[true, false]],
      misfit: [
        [true, true],
        [true, false, true],
      ],
    },
  ],
  properties: [
    {
      fact: "each declared property must fit if it is present",
      schema: { properties: { a: { type: "integer" }, b: { type: "string" } } },
      fit: [{ a: 1, b: "x" }, {}, { c: [] }, ...others("object")],
      misfit: [{ a: "x" }, { a: 1, b: {} }],
    },
    {
      fact: "false forbids the property",
      schema: { properties: { a: true, b: false } },
      fit: [{}, { a: 1 }],
      misfit: [{ b: 1 }, { a: 1, b: 2 }],
    },
    {
      fact: "null is a value of a property",
      schema: { properties: { a: { type: "null" } } },
      fit: [{ a: null }],
      misfit: [{ a: 0 }],
    },
    {
      fact: "a name may hold any character",
      schema: { properties: { 'a"b\n/~%': { type: "number" } } },
      fit: [{ 'a"b\n/~%': 1 }],
      misfit: [{ 'a"b\n/~%': "1" }],
    },
    {
      fact: "what every object inherits is no property",
      schema: { properties: { toString: { type: "number" }, constructor: { type: "number" } } },
      fit: [{}, { toString: 1 }],
      misfit: [{ toString: "a" }, { constructor: "a" }],
    },
    {
      fact: "a property called like a keyword is a property",
      schema: { properties: { $ref: { type: "string" }, type: { type: "null" } } },
      fit: [{ $ref: "a" }],
      misfit: [{ $ref: 2 }, { type: "object" }],
    },
  ],
  required: [
    {
      fact: "the property must be there, with whatever value",
      schema: { required: ["a"] },
      fit: [{ a: null }, { a: 1, b: 2 }, ...others("object")],
      misfit: [{}, { b: 1 }],
    },
    { fact: "an empty list asks for nothing", schema: { required: [] }, fit: [{}], misfit: [] },
    {
      fact: "what every object inherits is not there",
      schema: { required: ["toString", "constructor"] },
      fit: [{ toString: 1, constructor: 2 }],
      misfit: [{}, { toString: 1 }],
    },
  ],
  additionalProperties: [
    {
      fact: "false forbids what is not declared",
      schema: { properties: { a: {} }, additionalProperties: false },
      fit: [{}, { a: 1 }, ...others("object")],
      misfit: [{ b: 1 }, { a: 1, b: 2 }],
    },
    {
      fact: "what is not declared must fit its schema",
      schema: { properties: { a: {} }, additionalProperties: { type: "boolean" } },
      fit: [{ a: 1 }, { a: 1, b: true }],
      misfit: [{ b: 1 }],
    },
    {
      fact: "stands alone as well",
      schema: { additionalProperties: { type: "null" } },
      fit: [{ x: null }],
      misfit: [{ x: 1 }],
    },
    {
      fact: "does not look into the schemas beside it",
      schema: { allOf: [{ properties: { a: {} } }], additionalProperties: { type: "boolean" } },
      fit: [{ a: true }],
      misfit: [{ a: 1 }],
    },
    {
      fact: "what a pattern matches is declared",
      schema: { patternProperties: { "^v": {} }, additionalProperties: false },
      fit: [{ v1: 1 }],
      misfit: [{ w: 1 }],
    },
  ],
  patternProperties: [
    {
      fact: "each property whose name matches must fit",
      schema: { patternProperties: { "f.*o": { type: "integer" } } },
      fit: [{ foo: 1, bar: "x" }, { ffoo: 2 }, ...others("object")],
      misfit: [{ foo: "a" }, { xfooo: 1, fo: "b" }],
    },
    {
      fact: "with several that match all must fit",
      schema: { patternProperties: { a: { type: "integer" }, aa: { maximum: 20 } } },
      fit: [{ a: 21 }, { aa: 18 }],
      misfit: [{ aa: 31 }, { a: "x" }, { aaa: "y" }],
    },
    {
      fact: "a pattern is not anchored and distinguishes case",
      schema: { patternProperties: { "[0-9]{2,}": { type: "boolean" }, X_: { type: "string" } } },
      fit: [{ a31b: true, x_: 1 }],
      misfit: [{ a31b: null }, { bX_a: 1 }],
    },
    {
      fact: "false forbids what matches",
      schema: { patternProperties: { "f.*": true, "b.*": false } },
      fit: [{}, { foo: 1 }],
      misfit: [{ bar: 1 }, { foobar: 1 }],
    },
    {
      fact: "applies to declared properties, too",
      schema: { properties: { foo: { minimum: 1 } }, patternProperties: { "^f": { maximum: 3 } } },
      fit: [{ foo: 2 }],
      misfit: [{ foo: 0 }, { foo: 4 }, { far: 4 }],
    },
  ],
  propertyNames: [
    {
      fact: "each name must fit as a string",
      schema: { propertyNames: { maxLength: 3 } },
      fit: [{}, { abc: 1 }, ...others("object")],
      misfit: [{ abcd: 1 }, { a: 1, abcd: 2 }],
    },
    {
      fact: "may be a pattern, or a list",
      schema: { propertyNames: { pattern: "^a+$", enum: ["a", "aa", "b"] } },
      fit: [{ a: 1, aa: 2 }],
      misfit: [{ aaa: 1 }, { b: 1 }],
    },
    { fact: "false leaves the empty object", schema: { propertyNames: false }, fit: [{}], misfit: [{ a: 1 }] },
    { fact: "true leaves all names", schema: { propertyNames: true }, fit: [{ a: 1 }], misfit: [] },
  ],
  minProperties: [
    {
      fact: "counts properties",
      schema: { minProperties: 1 },
      fit: [{ a: 1 }, { a: 1, b: 2 }, ...others("object")],
      misfit: [{}],
    },
  ],
  maxProperties: [
    {
      fact: "counts properties",
      schema: { maxProperties: 2 },
      fit: [{}, { a: 1, b: 2 }, ...others("object")],
      misfit: [{ a: 1, b: 2, c: 3 }],
    },
    { fact: "0 leaves the empty object", schema: { maxProperties: 0 }, fit: [{}], misfit: [{ a: 1 }] },
  ],
  dependentRequired: [
    {
      fact: "where the one is the other must be",
      schema: { dependentRequired: { b: ["a"] } },
      fit: [{}, { a: 1 }, { a: 1, b: 2 }, ...others("object")],
      misfit: [{ b: 2 }],
    },
    {
      fact: "may ask for several, or for none",
      schema: { dependentRequired: { c: ["a", "b"], d: [] } },
      fit: [{ d: 1 }, { a: 1, b: 2, c: 3 }],
      misfit: [{ a: 1, c: 3 }, { c: 3 }],
    },
    {
      fact: "a name may hold any character",
      schema: { dependentRequired: { "a\nb": ['c"d'] } },
      fit: [{ "a\nb": 1, 'c"d': 2 }],
      misfit: [{ "a\nb": 1 }],
    },
  ],
  allOf: [
    {
      fact: "all must fit",
      schema: { allOf: [{ required: ["a"] }, { properties: { b: { type: "string" } } }] },
      fit: [{ a: 1, b: "x" }, { a: 1 }],
      misfit: [{ b: "x" }, { a: 1, b: 2 }],
    },
    {
      fact: "and what stands beside it",
      schema: { maximum: 5, allOf: [{ minimum: 2 }, { multipleOf: 2 }] },
      fit: [2, 4],
      misfit: [0, 3, 6],
    },
    { fact: "with false nothing fits", schema: { allOf: [true, false] }, fit: [], misfit: all() },
    { fact: "with true and {} everything fits", schema: { allOf: [true, {}] }, fit: all(), misfit: [] },
    { fact: "nests", schema: { allOf: [{ allOf: [{ type: "null" }] }] }, fit: [null], misfit: [1] },
  ],
  anyOf: [
    {
      fact: "one at least must fit",
      schema: { anyOf: [{ type: "integer" }, { minimum: 2 }] },
      fit: [1, 2.5, 3, "x"],
      misfit: [1.5],
    },
    {
      fact: "and what stands beside it",
      schema: { type: "string", anyOf: [{ maxLength: 2 }, { minLength: 4 }] },
      fit: ["ab", "abcd"],
      misfit: [3, "abc"],
    },
    { fact: "with false alone nothing fits", schema: { anyOf: [false, false] }, fit: [], misfit: all() },
  ],
  oneOf: [
    {
      fact: "exactly one must fit",
      schema: { oneOf: [{ type: "integer" }, { minimum: 2 }] },
      fit: [1, 2.5],
      misfit: [3, 1.5],
    },
    {
      fact: "and what stands beside it",
      schema: { type: "string", oneOf: [{ minLength: 2 }, { maxLength: 4 }] },
      fit: ["a", "abcde"],
      misfit: [3, "abc"],
    },
    {
      fact: "of three that are true none is the only one",
      schema: { oneOf: [true, true, true] },
      fit: [],
      misfit: all(),
    },
    { fact: "one true among false is the only one", schema: { oneOf: [false, true, false] }, fit: all(), misfit: [] },
    {
      fact: "tells objects apart by what they require",
      schema: { oneOf: [{ required: ["a", "b"] }, { required: ["a", "c"] }] },
      fit: [
        { a: 1, b: 2 },
        { a: 1, c: 3 },
      ],
      misfit: [{ a: 1 }, { a: 1, b: 2, c: 3 }],
    },
    { fact: "nests", schema: { oneOf: [{ oneOf: [{ type: "null" }] }] }, fit: [null], misfit: [1] },
  ],
  not: [
    { fact: "what fits does not fit", schema: { not: { type: "integer" } }, fit: ["a", 1.5, null], misfit: [1] },
    { fact: "of several types", schema: { not: { type: ["integer", "boolean"] } }, fit: ["a"], misfit: [1, true] },
    {
      fact: "of a whole schema",
      schema: { not: { type: "object", properties: { a: { type: "string" } } } },
      fit: [1, { a: 1 }],
      misfit: [{ a: "x" }, {}],
    },
    { fact: "forbids a property", schema: { properties: { a: { not: {} } } }, fit: [{}, { b: 1 }], misfit: [{ a: 1 }] },
    { fact: "of everything is nothing", schema: { not: true }, fit: [], misfit: all() },
    { fact: "of nothing is everything", schema: { not: false }, fit: all(), misfit: [] },
    { fact: "twice is once", schema: { not: { not: { type: "string" } } }, fit: ["a"], misfit: [1] },
  ],
  if: [
    { fact: "alone it asks for nothing", schema: { if: { const: 0 } }, fit: [0, 1, "a"], misfit: [] },
    {
      fact: "with then",
      schema: { if: { exclusiveMaximum: 0 }, then: { minimum: -10 } },
      fit: [-1, 3, "a"],
      misfit: [-100],
    },
    {
      fact: "with else",
      schema: { if: { exclusiveMaximum: 0 }, else: { multipleOf: 2 } },
      fit: [-1, 4, 0],
      misfit: [3],
    },
    {
      fact: "with both",
      schema: { if: { exclusiveMaximum: 0 }, then: { minimum: -10 }, else: { multipleOf: 2 } },
      fit: [-1, 4],
      misfit: [-100, 3],
    },
    {
      fact: "true takes the one, false the other",
      schema: {
        allOf: [
          { if: true, then: { minimum: 1 }, else: false },
          { if: false, then: false, else: { maximum: 3 } },
        ],
      },
      fit: [1, 3],
      misfit: [0, 4],
    },
    {
      fact: "does not reach into the next schema of allOf",
      schema: { allOf: [{ if: { exclusiveMaximum: 0 } }, { then: { minimum: -10 } }, { else: { multipleOf: 2 } }] },
      fit: [-100, 3],
      misfit: [],
    },
    {
      fact: "decides by the value of a property",
      schema: { if: { properties: { kind: { const: "card" } }, required: ["kind"] }, then: { required: ["number"] } },
      fit: [{ kind: "card", number: 1 }, { kind: "cash" }, {}],
      misfit: [{ kind: "card" }],
    },
  ],
  then: [{ fact: "asks for nothing without if", schema: { then: { const: 0 } }, fit: [0, "a"], misfit: [] }],
  else: [{ fact: "asks for nothing without if", schema: { else: { const: 0 } }, fit: [0, "a"], misfit: [] }],
  $ref: [
    {
      fact: "leads to the definition itself",
      schema: { properties: { next: { $ref: "#" } }, additionalProperties: false },
      fit: [{ next: false }, { next: { next: {} } }],
      misfit: [{ other: 1 }, { next: { other: 1 } }],
    },
    {
      fact: "leads on",
      schema: {
        $defs: { a: { type: "integer" }, b: { $ref: "#/$defs/a" }, c: { $ref: "#/$defs/b" } },
        $ref: "#/$defs/c",
      },
      fit: [5],
      misfit: ["a"],
    },
    {
      fact: "applies beside what stands there",
      schema: { $defs: { list: { type: "array" } }, properties: { a: { $ref: "#/$defs/list", maxItems: 2 } } },
      fit: [{ a: [] }],
      misfit: [{ a: [1, 2, 3] }, { a: "x" }],
    },
    {
      fact: "may lead to true or to false",
      schema: {
        $defs: { yes: true, no: false },
        properties: { a: { $ref: "#/$defs/yes" }, b: { $ref: "#/$defs/no" } },
      },
      fit: [{ a: 1 }],
      misfit: [{ b: 1 }],
    },
    {
      fact: "is written as a pointer within a URI",
      schema: {
        $defs: {
          "a~b": { type: "integer" },
          "c/d": { type: "integer" },
          "e%f": { type: "integer" },
          'g"h': { type: "integer" },
        },
        properties: {
          a: { $ref: "#/$defs/a~0b" },
          c: { $ref: "#/$defs/c~1d" },
          e: { $ref: "#/$defs/e%25f" },
          g: { $ref: "#/$defs/g%22h" },
        },
      },
      fit: [{ a: 1, c: 1, e: 1, g: 1 }],
      misfit: [{ a: "x" }, { c: "x" }, { e: "x" }, { g: "x" }],
    },
    {
      fact: "two may describe each other",
      schema: {
        $defs: { node: { properties: { tree: { $ref: "#" }, value: { type: "number" } }, required: ["value"] } },
        properties: { nodes: { items: { $ref: "#/$defs/node" } } },
      },
      fit: [{ nodes: [{ value: 1, tree: { nodes: [{ value: 2 }] } }] }],
      misfit: [{ nodes: [{ value: 1, tree: { nodes: [{ value: "x" }] } }] }],
    },
    {
      fact: "may be followed twice at one value",
      schema: {
        $defs: { int: { type: "integer" } },
        allOf: [{ properties: { a: { $ref: "#/$defs/int" } } }],
        additionalProperties: { $ref: "#/$defs/int" },
      },
      fit: [{ a: 1 }],
      misfit: [{ a: "x" }],
    },
  ],
  $defs: [{ fact: "asks for nothing by itself", schema: { $defs: { no: false } }, fit: all(), misfit: [] }],
  "x-sensitive": [
    { fact: "changes nothing of what fits", schema: { type: "string", "x-sensitive": true }, fit: ["a"], misfit: [1] },
  ],
};
