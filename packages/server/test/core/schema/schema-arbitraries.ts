import fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { ProblemList } from "../../../src/core/problem.ts";
import { parseSchemas, type Schema } from "../../../src/core/schema/schema.ts";

export function schemasOf(definitions: JsonObject): ReadonlyMap<string, Schema> {
  const problems = new ProblemList(100);
  const schemas = parseSchemas(definitions, "", problems);
  if (problems.count > 0) throw new Error(JSON.stringify(problems.toArray()));
  return schemas;
}

/** Parses one valid schema; it may refer to the other definitions. */
export function schemaOf(raw: JsonValue, others: JsonObject = {}): Schema {
  const schema = schemasOf({ ...others, subject: raw }).get("subject");
  if (schema === undefined) throw new Error("unreachable");
  return schema;
}

/** Few names and few values, so that random schemas often apply to random values. */
const propertyName = fc.constantFrom("a", "b", "c", "toString");
const text = fc.constantFrom("", "a", "b", "ab", "abc", "😀", "😀😀");
const number = fc.constantFrom(-1, 0, 1, 2, 3, 0.5, 1.5);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(text, number, fc.boolean(), fc.constant(null));

export const jsonValues: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.dictionary(propertyName, tie("value"), { maxKeys: 3, noNullPrototype: true }) },
  ),
})).value;

/** The names of the definitions to which any schema may refer. */
const definitionNames = ["first", "second", "third"] as const;
export type RawDefinitions = Record<(typeof definitionNames)[number], JsonValue>;

const typeName = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const small = fc.integer({ min: 0, max: 3 });
const namePattern = fc.constantFrom("^a", "b", "^[a-b]$", "g$");
const shortName = fc.constantFrom<JsonValue>({ maxLength: 1 }, { pattern: "^[ab]$" }, { enum: ["a", "b"] });
const bound = fc.constantFrom(-1, 0, 0.5, 1, 2, 3);

/**
 * Random definitions in the dialect, some of which break its rules (an empty range, a circle of references); a test filters those out. `format` is
 * left out, and `pattern` is only used for names of properties, because `format` and `pattern` have tests of their own.
 */
export const rawDefinitions: fc.Arbitrary<RawDefinitions> = fc.record({
  first: rawDefinition(),
  second: rawDefinition(),
  third: rawDefinition(),
});

/** Besides the shared definitions, any definition may refer to its own `$defs`. */
function rawDefinition(): fc.Arbitrary<JsonValue> {
  return fc
    .tuple(rawSchema(), rawSchema())
    .map(([schema, local]) => (isJsonObject(schema) ? { ...schema, $defs: { local } } : schema));
}

function rawSchema(): fc.Arbitrary<JsonValue> {
  return fc.letrec<{ schema: JsonValue }>((tie) => {
    const schema = tie("schema");
    const named = fc.constantFrom(...definitionNames).map((name) => `#/definitions/${name}`);
    const schemas = fc.array(schema, { minLength: 1, maxLength: 3 });
    const keywords: Record<string, fc.Arbitrary<JsonValue>> = {
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      properties: fc.dictionary(propertyName, schema, { maxKeys: 3, noNullPrototype: true }),
      required: fc.uniqueArray(propertyName, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), schema),
      patternProperties: fc.dictionary(namePattern, schema, { maxKeys: 2, noNullPrototype: true }),
      propertyNames: fc.oneof(shortName, schema),
      minProperties: small,
      maxProperties: small,
      dependentRequired: fc.dictionary(propertyName, fc.uniqueArray(propertyName, { maxLength: 2 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      items: schema,
      prefixItems: fc.array(schema, { minLength: 1, maxLength: 2 }),
      uniqueItems: fc.boolean(),
      enum: fc.array(jsonValues, { minLength: 1, maxLength: 3 }),
      const: jsonValues,
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: bound,
      exclusiveMaximum: bound,
      multipleOf: fc.constantFrom(0.5, 1, 1.5, 2, 3),
      minLength: small,
      maxLength: small,
      minItems: small,
      maxItems: small,
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: schema,
      conditional: fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: ["if"] }),
      $ref: fc.oneof({ weight: 4, arbitrary: named }, fc.constantFrom("#/$defs/local", "#")),
    };
    return { schema: fc.oneof({ maxDepth: 2, depthSize: "small" }, fc.boolean(), someOf(keywords), someOf(keywords)) };
  }).schema;
}

/** An object with one to four of the keywords. With more, the keywords would usually contradict each other. */
function someOf(keywords: Record<string, fc.Arbitrary<JsonValue>>): fc.Arbitrary<JsonValue> {
  return fc
    .uniqueArray(fc.constantFrom(...Object.keys(keywords)), { minLength: 1, maxLength: 4 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, keywords[name] ?? fc.constant(null)]))))
    .map(({ conditional = {}, ...schema }) => ({ ...schema, ...(conditional as JsonObject) }));
}

/** The schemas of random definitions, or undefined when those break a rule of the dialect. */
export function tryParse(definitions: RawDefinitions): ReadonlyMap<string, Schema> | undefined {
  const problems = new ProblemList(1);
  const schemas = parseSchemas(definitions, "", problems);
  return problems.count === 0 ? schemas : undefined;
}
