import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { describeValue, RawObject } from "../../json/raw-object.ts";
import { type Problem, ProblemList, pointerTo } from "../../problem.ts";
import { type AllowedValues, anything, newSchema, nothing, type Schema } from "../node.ts";
import { PatternBook } from "../patterns/pattern-book.ts";
import type { TypeSet } from "../type-set.ts";
import { type Link, refuseCycles } from "./chain.ts";
import {
  readAllowedValues,
  readArrayRules,
  readNamedSchemas,
  readNumberRules,
  readSchemas,
  readStringRules,
  readTypes,
} from "./keywords.ts";
import { readObjectRules } from "./object-keywords.ts";
import { readRareRules } from "./rare-keywords.ts";
import { type Reference, resolveReference, type Scope } from "./reference.ts";
import { annotations, checkAnnotations, refuseUnknownKeywords } from "./vocabulary.ts";

/**
 * Parses `definitions`, an object of schemas by their names. The schemas may refer to each other. Problems are added to `problems`, with pointers
 * that begin with `pointer`. A schema with a problem is kept, as far as it could be read, so that references to it are not reported as well. Do not
 * use the result when there are problems. The limits on patterns and on allowed values do not apply to the schemas of a registered version.
 */
export function parseSchemas(
  definitions: JsonObject,
  pointer: string,
  problems: ProblemList,
  isRegistered = false,
): ReadonlyMap<string, Schema> {
  const reader = new SchemaReader(problems, isRegistered);
  const schemas = new Map<string, Schema>();
  for (const [name, raw] of Object.entries(definitions))
    schemas.set(name, reader.readDefinition(raw, pointerTo(pointer, name)));
  reader.follow(schemas);
  return schemas;
}

/** Parses a single schema, such as an executor's schema for its config. A `$ref` in it can name only the schema itself and its own `$defs`. */
export function parseSchema(raw: JsonValue): { readonly schema: Schema } | { readonly problems: readonly Problem[] } {
  const problems = new ProblemList(100);
  const reader = new SchemaReader(problems, false);
  const schema = reader.readDefinition(raw, "");
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
  #isListShown = false;
  #scope: Scope = newScope("");
  readonly #isRegistered: boolean;

  constructor(problems: ProblemList, isRegistered: boolean) {
    this.#problems = problems;
    this.#isRegistered = isRegistered;
    this.#patterns = new PatternBook(isRegistered);
  }

  /** Reads a schema that has a name in `definitions`, or a single schema. Within it, `#` is the schema itself. */
  readDefinition(value: JsonValue, pointer: string): Schema {
    const scope = newScope(pointer);
    this.#scope = scope;
    scope.root = this.#read(value, pointer);
    return scope.root;
  }

  #read = (value: JsonValue, pointer: string): Schema => {
    if (value === true || this.#problems.isFull) return anything;
    if (value === false) return nothing;
    if (isJsonObject(value)) return this.#readKeywords(new RawObject(value, pointer, this.#problems));
    this.#problems.add(pointer, `must be a schema: an object, true or false, but is ${describeValue(value)}`);
    return anything;
  };

  /** Resolves the references. Call this once, after all schemas are read. */
  follow(schemas: ReadonlyMap<string, Schema>): void {
    for (const reference of this.#references) resolveReference(reference, schemas, this.#problems);
    refuseCycles(this.#links, this.#problems);
  }

  #readKeywords(raw: RawObject): Schema {
    if (refuseUnknownKeywords(raw, !this.#isListShown)) this.#isListShown = true;
    checkAnnotations(raw);
    const types = readTypes(raw);
    if (Object.keys(raw.fields).every((keyword) => plainKeywords.has(keyword))) return this.#plainSchema(types);
    this.#readDefs(raw);
    const schema = newSchema({
      types,
      allowed: readAllowedValues(raw),
      numbers: readNumberRules(raw),
      strings: readStringRules(raw, this.#patterns),
      arrays: readArrayRules(raw, this.#read),
      objects: readObjectRules(raw, this.#read, this.#patterns),
      allOf: readSchemas(raw, "allOf", this.#read),
      anyOf: readSchemas(raw, "anyOf", this.#read),
      rare: readRareRules(raw, this.#read),
      isSensitive: raw.boolean("x-sensitive") ?? false,
    });
    if (schema.allowed !== undefined) this.#boundCompounds(raw, schema.allowed);
    const target = raw.fields.$ref;
    if (target !== undefined) {
      this.#references.push({ schema, target, scope: this.#scope, pointer: raw.pointerTo("$ref") });
    }
    const keyword = linkingKeywords.find((one) => raw.fields[one] !== undefined);
    if (keyword !== undefined) this.#links.push({ schema, pointer: raw.pointerTo(keyword) });
    return schema;
  }

  /** Reads `$defs`. Refuses them below the top of a schema of `definitions`: if they were allowed there, `#/$defs/<name>` would be ambiguous. */
  #readDefs(raw: RawObject): void {
    if (raw.fields.$defs === undefined) return;
    const scope = this.#scope;
    const defs = readNamedSchemas(raw, "$defs", this.#read);
    if (raw.pointer !== scope.pointer) {
      const detail =
        "is allowed only at the top of a schema of `definitions`, because `#/$defs/<name>` leads there; move it there";
      raw.refuse("$defs", detail);
    }
    for (const [name, schema] of defs) scope.defs.set(name, schema);
  }

  #boundCompounds(raw: RawObject, { compounds, maxCompoundCost }: AllowedValues): void {
    this.#compoundCost += compounds.size * maxCompoundCost;
    if (this.#isRegistered || this.#compoundCost <= maxTotalCompoundCost) return;
    const field = raw.fields.const === undefined ? "enum" : "const";
    raw.refuse(
      field,
      "the objects and arrays among the definition's allowed values are too large together; describe them with a schema instead",
    );
  }

  /** Most schemas only name a type. Those with the same types share one node, because a definition may have a hundred thousand of them. */
  #plainSchema(types: TypeSet): Schema {
    const known = this.#plainSchemas.get(types);
    if (known !== undefined) return known;
    const schema = newSchema({ types });
    this.#plainSchemas.set(types, schema);
    return schema;
  }
}

/**
 * The bound on the cost of all objects and arrays among a definition's allowed values, in the units of `costOfCanonicalJson`. Reading them takes up
 * to about 20 ms. The bound is enough for an object of 22,000 properties, or for a thousand objects of 22 properties.
 */
const maxTotalCompoundCost = 200_000;

const plainKeywords: ReadonlySet<string> = new Set(["type", ...annotations]);
/** The keywords by which a schema leads to other schemas for the same value. */
const linkingKeywords = ["$ref", "allOf", "anyOf", "oneOf", "not", "if"] as const;

function newScope(pointer: string): Scope {
  return { pointer, root: anything, defs: new Map() };
}
