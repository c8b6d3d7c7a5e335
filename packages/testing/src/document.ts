import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

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
  /** The cost of a request among the requests of a minute; none where no credential is needed. */
  readonly "x-cost"?: number;
  readonly summary?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Record<string, object> }>
  >;
}

/** The part of a JSON schema that the document uses in requests. */
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
  readonly components?: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The served document, as a test asks it. */
export class ApiDocument {
  readonly raw: RawDocument;
  readonly operations: readonly Operation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(raw: RawDocument) {
    this.raw = raw;
    this.operations = Object.entries(raw.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, declaration]) => ({
        operationId: declaration.operationId,
        method: method.toUpperCase(),
        path,
        permission: declaration["x-permission"],
        declaration,
      })),
    );
    this.#ajv.addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    this.#ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    this.#ajv.addSchema(closeObjects(raw) as object, "document");
  }

  operation(operationId: string): Operation {
    const operation = this.operations.find((candidate) => candidate.operationId === operationId);
    if (operation === undefined) throw new Error(`The document has no operation ${operationId}.`);
    return operation;
  }

  /** Fails the test when the answer is not one that the document describes. */
  check(operationId: string, status: number, contentType: string | null, body: unknown): void {
    const { path, method, declaration } = this.operation(operationId);
    const response = declaration.responses[status];
    expect(
      response,
      `${operationId} answered ${status}, which the document does not know: ${JSON.stringify(body)}`,
    ).toBeDefined();
    const [mediaType] = contentType?.split(";") ?? [];
    if (response?.content === undefined) {
      expect(body, `${operationId} ${status} has no body`).toBe("");
      return;
    }
    expect(Object.keys(response.content), `${operationId} ${status}`).toContain(mediaType);
    const pointer = ["paths", path, method.toLowerCase(), "responses", status, "content", mediaType, "schema"];
    const validate = this.#validatorAt(pointer.map((part) => pointerToken(String(part))).join("/"));
    const errors = validate(body) ? [] : validate.errors;
    expect(errors, `${operationId} ${status} answered ${JSON.stringify(body)}`).toEqual([]);
  }

  #validatorAt(pointer: string): ValidateFunction {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `document#/${pointer}` });
      this.#validators.set(pointer, validate);
    }
    return validate;
  }
}

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

/** Clients must tolerate fields that the document does not know. The tests do not: each must be described. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, closeObjects(item)]),
  );
  const isObjectSchema = copy.type === "object" && typeof copy.properties === "object";
  return isObjectSchema && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

function pointerToken(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
