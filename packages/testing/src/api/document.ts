import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { readConfig } from "../../../server/src/config.ts";
import { once } from "../../../server/src/core/once.ts";
import { apiDocument } from "../../../server/src/http/api-document.ts";

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly permission: string;
  readonly declaration: OperationDeclaration;
}

interface OperationDeclaration {
  readonly operationId: string;
  readonly "x-permission": string;
  /** The number of requests that one request uses up in the limits per minute; absent if no credential is needed. */
  readonly "x-cost"?: number;
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, ResponseDeclaration>>;
}

/** An answer, or a reference to the component that describes it. */
interface ResponseDeclaration {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
}

/** A JSON schema of the document, with the keywords that tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDeclaration>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
    readonly responses: Readonly<Record<string, ResponseDeclaration>>;
  };
}

/**
 * The headers of the HTTP framework, of caches, compression and CORS, and those of `answer-headers.ts`. Every answer may have them, and the document
 * does not name them.
 */
const commonHeaders: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "strict-transport-security",
  "transfer-encoding",
  "vary",
  "x-accel-buffering",
  "x-content-type-options",
]);

interface CheckedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The document of an API, with the look-ups that tests need. */
export class ApiDocument {
  readonly raw: RawDocument;
  readonly operations: readonly Operation[];
  readonly #byId: ReadonlyMap<string, Operation>;
  readonly #schemas: Schemas;

  constructor(raw: RawDocument) {
    this.raw = raw;
    this.#schemas = schemasOf(raw);
    this.operations = Object.entries(raw.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, declaration]) => ({
        operationId: declaration.operationId,
        method: method.toUpperCase(),
        path,
        permission: declaration["x-permission"],
        declaration,
      })),
    );
    this.#byId = new Map(this.operations.map((operation) => [operation.operationId, operation]));
  }

  operation(operationId: string): Operation {
    const operation = this.#byId.get(operationId);
    if (operation === undefined) throw new Error(`The document has no operation ${operationId}.`);
    return operation;
  }

  /**
   * Fails the test if the document does not describe the answer. Error messages are made only for such an answer: an answer may be large, and the
   * tests get tens of thousands of answers.
   */
  check(operationId: string, { status, headers, body }: CheckedAnswer): void {
    const { declaration } = this.operation(operationId);
    if (declaration.responses[status] === undefined)
      expect.fail(`${operationId} answered ${status}, which the document does not know: ${JSON.stringify(body)}`);
    this.#checkHeaders(operationId, status, headers);
    const { content } = this.answerOf(operationId, status);
    if (content === undefined) {
      if (body !== "") expect(body, `${operationId} ${status} has no body`).toBe("");
      return;
    }
    const [mediaType = ""] = headers.get("content-type")?.split(";") ?? [];
    if (!(mediaType in content)) expect(Object.keys(content), `${operationId} ${status}`).toContain(mediaType);
    const errors = this.errorsOfAnswer(operationId, status, mediaType, body);
    if (errors.length > 0) expect(errors, `${operationId} ${status} answered ${JSON.stringify(body)}`).toEqual([]);
  }

  /** Returns the document's description of the answer with this status. If the operation refers to a shared description, returns that one. */
  answerOf(operationId: string, status: number | string): ResponseDeclaration {
    const response = this.operation(operationId).declaration.responses[status] ?? {};
    return response.$ref === undefined ? response : (this.raw.components.responses[nameIn(response.$ref)] ?? {});
  }

  errorsOfAnswer(operationId: string, status: number | string, mediaType: string, body: unknown): readonly object[] {
    const { path, method, declaration } = this.operation(operationId);
    const { $ref } = declaration.responses[status] ?? {};
    const place =
      $ref === undefined
        ? ["paths", path, method.toLowerCase(), "responses", String(status)]
        : ["components", "responses", nameIn($ref)];
    return this.#errorsAt([...place, "content", mediaType, "schema"], body);
  }

  errorsOfRequest(operationId: string, body: unknown): readonly object[] {
    const { path, method } = this.operation(operationId);
    const place = ["paths", path, method.toLowerCase(), "requestBody", "content", "application/json", "schema"];
    return this.#errorsAt(place, body);
  }

  #errorsAt(place: readonly string[], value: unknown): readonly object[] {
    return this.#schemas.errorsAt(place.map(pointerToken).join("/"), value);
  }

  /**
   * Checks that the document names every header of this answer, and that the answer has every header that the document declares as always present.
   */
  #checkHeaders(operationId: string, status: number, headers: Headers): void {
    const named = Object.entries(this.answerOf(operationId, status).headers ?? {});
    const names = new Set(named.map(([name]) => name.toLowerCase()));
    const unknown = [...headers.keys()].filter((name) => !commonHeaders.has(name) && !names.has(name));
    if (unknown.length > 0)
      expect(unknown, `${operationId} ${status} has headers that the document does not name`).toEqual([]);
    const missing = named.filter(
      ([name, { $ref }]) => this.raw.components.headers[nameIn($ref)]?.required === true && !headers.has(name),
    );
    if (missing.length > 0)
      expect(missing, `${operationId} ${status} lacks headers that the document says it has`).toEqual([]);
    for (const [name, { $ref }] of named) {
      const value = headers.get(name);
      const errors = value === null ? [] : this.#errorsAt(["components", "headers", nameIn($ref), "schema"], value);
      if (errors.length > 0) expect(errors, `${operationId} ${status}: ${name}: ${value}`).toEqual([]);
    }
  }
}

/** The schemas of a document. Each is compiled when a value is first checked against it. */
class Schemas {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: object) {
    this.#ajv.addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    this.#ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    this.#ajv.addFormat("uri-reference", /^\S+$/);
    this.#ajv.addSchema(closeObjects(document) as object, "document");
  }

  errorsAt(pointer: string, value: unknown): readonly object[] {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `document#/${pointer}` });
      this.#validators.set(pointer, validate);
    }
    return validate(value) ? [] : (validate.errors ?? []);
  }
}

/**
 * Compiling the schemas of a document takes long. The test files that run in one worker of Vitest start some dozens of services. Most of their
 * documents differ only in the address, so compiled schemas are shared.
 */
const schemasByText = new Map<string, Schemas>();

function schemasOf(raw: RawDocument): Schemas {
  const withoutAddress = { ...raw, servers: [] };
  const text = JSON.stringify(withoutAddress);
  let schemas = schemasByText.get(text);
  if (schemas === undefined) {
    schemas = new Schemas(withoutAddress);
    schemasByText.set(text, schemas);
  }
  return schemas;
}

/**
 * Makes the document of this build without asking a service. Every service of the build serves the same document, only with its own address, as
 * `openapi.test.ts` checks. So test clients check answers against this document, and save each service the work of making its own.
 */
export const documentOfBuild = once(
  async () => new ApiDocument(JSON.parse(JSON.stringify(await apiDocument(readConfig({})))) as RawDocument),
);

const documents = new Map<string, Promise<ApiDocument>>();

export function readDocument(baseUrl: string): Promise<ApiDocument> {
  let document = documents.get(baseUrl);
  if (document === undefined) {
    document = fetch(`${baseUrl}/openapi.json`)
      .then((response) => response.json())
      .then((raw) => new ApiDocument(raw as RawDocument));
    documents.set(baseUrl, document);
  }
  return document;
}

/**
 * Forbids undeclared properties in each schema of an object that lists properties and says nothing about others. Clients must tolerate fields that
 * the document does not describe, but the tests require that every field is described.
 */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, closeObjects(item)]),
  );
  const isObjectSchema = copy.type === "object" && typeof copy.properties === "object";
  return isObjectSchema && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** The name of the component to which a reference leads. */
function nameIn(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function pointerToken(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
