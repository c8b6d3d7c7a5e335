import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { describeValue, RawObject } from "../json/raw-object.ts";
import { type Problem, ProblemList, pointerTo } from "../problem.ts";
import {
  checkAnnotations,
  readAllowedValues,
  readAlternatives,
  readArrayRules,
  readNumberRules,
  readObjectRules,
  readStringRules,
  readTypes,
} from "./keywords.ts";
import { type AllowedValues, anything, newSchema, nothing, type Schema } from "./node.ts";
import { PatternBook } from "./pattern-book.ts";
import { type Link, type Reference, refuseCycles, resolveReference } from "./reference.ts";
import type { TypeSet } from "./type-set.ts";

/**
 * Parses `definitions`: name → schema, which may refer to each other. Every problem goes to `problems`, with pointers that begin
 * with `pointer`. A schema with a problem is in the answer too, as far as it can be understood, so that what refers to it
 * is not reported as well; with a problem in the list the schemas are good for nothing else. Those of a version that is registered are
 * held against no limit.
 */
export function parseSchemas(
  definitions: JsonObject,
  pointer: string,
  problems: ProblemList,
  isRegistered = false,
): ReadonlyMap<string, Schema> {
  const reader = new SchemaReader(problems, isRegistered);
  const schemas = new Map<string, Schema>();
  for (const [name, raw] of Object.entries(definitions)) schemas.set(name, reader.read(raw, pointerTo(pointer, name)));
  reader.follow(schemas);
  return schemas;
}

/** Parses a schema that stands alone, such as an executor's for its config: a `$ref` leads nowhere there. */
export function parseSchema(raw: JsonValue): { readonly schema: Schema } | { readonly problems: readonly Problem[] } {
  const problems = new ProblemList(100);
  const reader = new SchemaReader(problems, false);
  const schema = reader.read(raw, "");
  reader.follow(new Map());
  return problems.count === 0 ? { schema } : { problems: problems.toArray() };
}

class SchemaReader {
  readonly #problems: ProblemList;
  readonly #patterns: PatternBook;
  readonly #references: Reference[] = [];
  readonly #links: Link[] = [];
  readonly #plainSchemas = new Map<TypeSet, Schema>();
  #compoundCost = 0;
  readonly #isRegistered: boolean;

  constructor(problems: ProblemList, isRegistered: boolean) {
    this.#problems = problems;
    this.#isRegistered = isRegistered;
    this.#patterns = new PatternBook(isRegistered);
  }

  read = (value: JsonValue, pointer: string): Schema => {
    if (value === true || this.#problems.isFull) return anything;
    if (value === false) return nothing;
    if (isJsonObject(value)) return this.#readKeywords(new RawObject(value, pointer, this.#problems));
    this.#problems.add(pointer, `must be a schema: an object, true or false, but is ${describeValue(value)}`);
    return anything;
  };

  /** To be called once, when all schemas are read: leads the references to their targets. */
  follow(schemas: ReadonlyMap<string, Schema>): void {
    for (const reference of this.#references) resolveReference(reference, schemas, this.#problems);
    refuseCycles(this.#links, this.#problems);
  }

  #readKeywords(raw: RawObject): Schema {
    raw.refuseUnknown(knownKeywords, "a keyword that schemas may use here");
    checkAnnotations(raw);
    const types = readTypes(raw);
    if (Object.keys(raw.fields).every((keyword) => plainKeywords.has(keyword))) return this.#plainSchema(types);
    const schema = newSchema({
      types,
      allowed: readAllowedValues(raw),
      numbers: readNumberRules(raw),
      strings: readStringRules(raw, this.#patterns),
      arrays: readArrayRules(raw, this.read),
      objects: readObjectRules(raw, this.read),
      anyOf: readAlternatives(raw, this.read),
      isSensitive: raw.boolean("x-sensitive") ?? false,
    });
    if (schema.allowed !== undefined) this.#boundCompounds(raw, schema.allowed);
    const target = raw.fields.$ref;
    if (target !== undefined) this.#references.push({ schema, target, pointer: raw.pointerTo("$ref") });
    if (target !== undefined || schema.anyOf !== undefined) {
      this.#links.push({ schema, pointer: raw.pointerTo(target === undefined ? "anyOf" : "$ref") });
    }
    return schema;
  }

  #boundCompounds(raw: RawObject, { compounds, maxCompoundCost }: AllowedValues): void {
    this.#compoundCost += compounds.size * maxCompoundCost;
    if (this.#isRegistered || this.#compoundCost <= maxTotalCompoundCost) return;
    const field = raw.fields.const === undefined ? "enum" : "const";
    raw.refuse(
      field,
      "the objects and arrays among the definition's allowed values are too large together; describe them by a schema",
    );
  }

  /** Most schemas only name a type. They share a node each: a definition may have a hundred thousand of them. */
  #plainSchema(types: TypeSet): Schema {
    const known = this.#plainSchemas.get(types);
    if (known !== undefined) return known;
    const schema = newSchema({ types });
    this.#plainSchemas.set(types, schema);
    return schema;
  }
}

/** Some 20 ms to read: an object of 22,000 properties, or a thousand of 22. */
const maxTotalCompoundCost = 200_000;

const plainKeywords: ReadonlySet<string> = new Set(["type", "title", "description", "default"]);
const knownKeywords: ReadonlySet<string> = new Set([
  ...plainKeywords,
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "format",
  "anyOf",
  "$ref",
  "x-sensitive",
]);
