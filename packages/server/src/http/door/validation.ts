import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { FastifySchemaCompiler } from "fastify";
import { didYouMean } from "../../core/closest-name.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { sizeOfJson } from "../../core/json/json-size.ts";
import { once } from "../../core/once.ts";
import { type Problem, ProblemList, pointerTo, quoted, sentence } from "../../core/problem.ts";
import { describeFormat, formatNames, hasFormat, isFormat } from "../../core/schema/formats/format.ts";
import { invalidPart, ServiceError } from "../../core/service-error.ts";

/**
 * Checks requests against the same schemas that the document shows. Nothing is converted or dropped silently, with one exception: a query is all
 * text, so its numbers, booleans and lists are read as such. The first request of an operation compiles its schemas, because compiling those of all
 * operations would take 180 ms of each start. A test compiles them all.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const forFirst = once(() => createAjv({ allErrors: false }));
  const forAll = once(() => createAjv({ allErrors: true }));
  return ({ schema, httpPart }) => {
    // Headers are checked by the parts that read them: `request-key.ts`, `precondition.ts`, `job-stream.ts` and `many-jobs-stream.ts`.
    if (httpPart === "headers") return () => true;
    const findErrors = errorFinder(
      once(() => forFirst().compile(schema)),
      once(() => forAll().compile(schema)),
    );
    if (httpPart === "querystring") return (received) => checkQuery(findErrors, schema as QuerySchema, received);
    const part = httpPart === "body" ? "body" : "path";
    return (value) => {
      const errors = findErrors(value);
      return errors.length === 0 ? { value } : { error: invalid(part, value, errors) };
    };
  };
}

/** A test checks the schemas themselves, because compiling the schema of schemas would prolong the first request after each start. */
function createAjv(options: { readonly allErrors: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ ...options, validateSchema: false, verbose: true, strict: true, strictTypes: false });
  ajv.addVocabulary(["example", "x-optional-body", "x-rule"]);
  for (const format of formatNames()) ajv.addFormat(format, (text) => hasFormat(text, format));
  return ajv;
}

type FindErrors = (value: unknown) => readonly ErrorObject[];

/**
 * Searches for all errors only in values of a size that people write by hand. For a megabyte that is wrong everywhere, Ajv would take a second to
 * make half a million errors, and it has no way to stop early.
 */
function errorFinder(first: () => ValidateFunction, all: () => ValidateFunction): FindErrors {
  return (value) => {
    const findFirst = first();
    if (findFirst(value)) return [];
    if (sizeOfJson((value ?? null) as JsonValue, maxSizeForAll) > maxSizeForAll) return findFirst.errors ?? [];
    const findAll = all();
    findAll(value);
    return findAll.errors ?? [];
  };
}

/** The size, in characters and members, up to which a value is searched for all errors. */
const maxSizeForAll = 20_000;
const maxProblems = 50;

function invalid(part: string, value: unknown, errors: readonly ErrorObject[]): ServiceError {
  // Fastify passes null for a missing body.
  if (part === "body" && value === null) {
    return new ServiceError(
      "ValidationError",
      "Send a body: a JSON object, with the header `Content-Type: application/json`.",
    );
  }
  const list = new ProblemList(maxProblems);
  for (const error of errors) {
    if (list.isFull) break;
    const { pointer, detail } = problemOf(error);
    list.add(pointer, detail);
  }
  return invalidPart(part, list.toArray());
}

function problemOf(error: ErrorObject): Problem {
  const pointer = error.instancePath;
  const rule = (error.parentSchema as { "x-rule"?: string } | undefined)?.["x-rule"];
  switch (error.keyword) {
    case "required":
      return { pointer: pointerTo(pointer, error.params.missingProperty), detail: "is missing" };
    case "additionalProperties": {
      const name: string = error.params.additionalProperty;
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
      return {
        pointer: pointerTo(pointer, name),
        detail: `is not known here${didYouMean(name, known) || listed(known)}`,
      };
    }
    case "enum": {
      const allowed: readonly string[] = error.params.allowedValues;
      const hint = typeof error.data === "string" ? didYouMean(error.data, allowed) : "";
      return { pointer, detail: `must be one of ${allowed.map((value) => quoted(String(value))).join(", ")}${hint}` };
    }
    case "format": {
      const { format } = error.params;
      return { pointer, detail: `must be ${isFormat(format) ? describeFormat(format) : format}` };
    }
    // The `x-rule` of the schema says which characters are allowed, but not the length.
    case "minLength":
    case "maxLength":
      return { pointer, detail: plainWords(error) };
    default:
      return { pointer, detail: rule ?? plainWords(error) };
  }
}

function listed(known: readonly string[]): string {
  return known.length === 0 ? "" : `; known here: ${known.map(quoted).join(", ")}`;
}

function plainWords({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "type":
      return `must be ${[params.type].flat().map(withArticle).join(" or ")}`;
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minItems":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} items`;
    case "maxItems":
      return `must have at most ${params.limit} items`;
    case "uniqueItems":
      return `must contain nothing twice, but items ${params.j} and ${params.i} are the same`;
    case "minimum":
      return `must be ${params.limit} or more`;
    case "maximum":
      return `must be ${params.limit} or less`;
    default:
      return message ?? "is not valid";
  }
}

function withArticle(type: string): string {
  if (type === "null") return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

function checkQuery(findErrors: FindErrors, schema: QuerySchema, received: unknown) {
  const query = readQuery(schema, received);
  const errors = findErrors(query);
  if (errors.length > 0) return { error: invalid("query", query, errors) };
  // Only the query is checked for NUL here: bodies were checked when they were parsed, and a path with NUL names nothing that exists.
  const unstorable = Object.entries(query).find(([, text]) => typeof text === "string" && text.includes("\0"));
  if (unstorable === undefined) return { value: query };
  const problem = {
    pointer: pointerTo("", unstorable[0]),
    detail: "contains the character NUL, which cannot be stored",
  };
  const message = sentence(`The query is not valid: ${problem.pointer} ${problem.detail}`);
  return { error: new ServiceError("ValidationError", message, { problems: [problem] }) };
}

/**
 * Reads the numbers, booleans and lists of a query. Any other text stays a text, and a parameter that is given twice stays a list of texts. The
 * schema then reports what does not fit.
 */
function readQuery(schema: QuerySchema, received: unknown): Record<string, unknown> {
  const query: Record<string, unknown> = { ...(received as Record<string, unknown>) };
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const text = query[name];
    if (type === "integer" && typeof text === "string" && /^-?\d{1,15}$/.test(text)) query[name] = Number(text);
    // A list with one element looks like a single value.
    else if (type === "array" && typeof text === "string") query[name] = [text];
    else if (type === "boolean" && (text === "true" || text === "false")) query[name] = text === "true";
  }
  return query;
}
