import type { ApiDocument, Operation, Schema } from "./api/document.ts";
import type { CallOptions } from "./client.ts";

/** One place of a request into which a caller writes a value. */
export interface RequestField {
  readonly place: "path" | "query" | "header" | "body";
  /**
   * The names that lead to the field, from the outside to the inside. `[]` stands for each item of a list, `{}` for a value under a name that the
   * caller chooses.
   */
  readonly path: readonly string[];
  /** The last of these names, not counting `[]` and `{}`. */
  readonly name: string;
  /** `id`: a UUID. `text`: any other text or value that the caller chooses. `fixed`: a number, a boolean, a time, or one of a few words. */
  readonly kind: "id" | "text" | "fixed";
  /** The paths of other required strings, ids included: those in the object of this field, and those in each object around it. */
  readonly besides: readonly (readonly string[])[];
}

/** Returns all fields that an operation accepts according to the document. */
export function fieldsOf(document: ApiDocument, { declaration }: Operation): readonly RequestField[] {
  const parameters = (declaration.parameters ?? []).flatMap(({ name, in: place, schema }) =>
    leavesOf(document, schema, [name], []).map((leaf) => ({ ...leaf, place: place as RequestField["place"] })),
  );
  const body = declaration.requestBody?.content["application/json"]?.schema;
  const inBody = body === undefined ? [] : leavesOf(document, body, [], []);
  const fields = [...parameters, ...inBody.map((leaf) => ({ ...leaf, place: "body" as const }))];
  // The alternatives of a value can have a field in common, which is listed only once.
  return [...new Map(fields.map((field) => [labelOf(field), field])).values()];
}

/** The name of a field in a report: `body workflowVersion.versionId`. */
export function labelOf({ place, path }: Pick<RequestField, "place" | "path">): string {
  return `${place} ${path.join(".")}`;
}

/** Writes this value into the field of a request. `beside` returns a value for each of `besides` that the body does not have yet. */
export function withValue(
  options: CallOptions,
  { place, path, besides }: RequestField,
  value: string,
  beside: (name: string) => string,
): CallOptions {
  const [first = ""] = path;
  if (place === "path") return { ...options, params: { ...options.params, [first]: value } };
  if (place === "query") return { ...options, query: { ...options.query, [first]: value } };
  if (place === "header") return { ...options, headers: { ...options.headers, [first]: value } };
  const completed = besides.reduce(
    (body, other) => put(body, other, (present) => present ?? beside(other.at(-1) ?? "")),
    options.body,
  );
  return { ...options, body: put(completed, path, () => value) };
}

type Leaf = Omit<RequestField, "place">;

function leavesOf(
  document: ApiDocument,
  schema: Schema,
  path: readonly string[],
  besides: RequestField["besides"],
): Leaf[] {
  if (schema.$ref !== undefined) return leavesOf(document, componentOf(document, schema.$ref), path, besides);
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((form) => leavesOf(document, form, path, besides));
  if (schema.items !== undefined) return leavesOf(document, schema.items, [...path, "[]"], besides);
  const { properties, required = [] } = schema;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, inner]) => {
      const others = required.filter((other) => other !== name && isText(properties[other]));
      return leavesOf(document, inner, [...path, name], [...besides, ...others.map((other) => [...path, other])]);
    });
  }
  if (schema.type === "null") return [];
  if (schema.type === "object") return path.length === 0 ? [] : [leaf([...path, "{}"], "text", besides)];
  return [leaf(path, kindOf(schema), besides)];
}

function leaf(path: readonly string[], kind: Leaf["kind"], besides: RequestField["besides"]): Leaf {
  return { path, name: path.findLast((name) => name !== "[]" && name !== "{}") ?? "", kind, besides };
}

function kindOf({ type, format, pattern, enum: words }: Schema): Leaf["kind"] {
  if (format === "uuid") return "id";
  const isOfNumbers =
    pattern !== undefined &&
    numbers.every((text) => new RegExp(pattern, "u").test(text)) &&
    !new RegExp(pattern, "u").test("name");
  const isOwnText =
    words === undefined && !isOfNumbers && format !== "date-time" && (type === undefined || type === "string");
  return isOwnText ? "text" : "fixed";
}

/** Numbers, written as texts. If the pattern of a text accepts these but rejects a name, the text is taken to be a number. */
const numbers = ["1", "23"];

function isText(schema: Schema | undefined): boolean {
  return schema?.type === "string" && schema.enum === undefined;
}

function componentOf({ raw }: ApiDocument, reference: string): Schema {
  const component = raw.components?.schemas[reference.replace("#/components/schemas/", "")];
  if (component === undefined) throw new Error(`The document has no ${reference}.`);
  return component;
}

function put(target: unknown, [name, ...rest]: readonly string[], change: (present: unknown) => unknown): unknown {
  if (name === undefined) return change(target);
  if (name === "[]") return [put(undefined, rest, change)];
  const key = name === "{}" ? "id" : name;
  const object = typeof target === "object" && target !== null ? (target as Readonly<Record<string, unknown>>) : {};
  return { ...object, [key]: put(object[key], rest, change) };
}
