import { errorKinds } from "../door/errors.ts";

/** The part of an operation of the document that decides its headers. */
interface DocumentedOperation {
  readonly "x-permission": string;
  /** Set by `operation.ts` if a repetition can get the first answer again. It does not appear in the document. */
  "x-replayable"?: boolean;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Record<string, DocumentedAnswer>;
}

interface DocumentedAnswer {
  readonly description?: string;
  headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema?: AnswerSchema }>>;
}

interface AnswerSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly AnswerSchema[];
  readonly properties?: object;
}

interface Reference {
  readonly $ref: string;
}

export interface DocumentWithOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, AnswerSchema>>;
    headers?: object;
    responses?: object;
  };
}

type HeaderName = keyof typeof headers;

/**
 * Adds the headers to each answer. They all follow from the declaration of the operation, by the rules in this file. The tests compare these
 * headers with those of every answer that they get. Answers with a problem are the same for all operations, so each is in the document once.
 */
export function describeHeaders(document: DocumentWithOperations): void {
  const { paths, components } = document;
  const versioned = pathsOfVersionedThings(paths);
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const hasEtag = method !== "delete" && (method === "post" ? isParentOf(versioned, path) : versioned.has(path));
      describeAnswers(operation, hasEtag && !("304" in operation.responses), components.schemas);
      delete operation["x-replayable"];
    }
  }
  components.headers = headers;
  components.responses = problemAnswers(document);
}

/** Returns the paths of things that a client can change under `If-Match`. Each answer that shows such a thing has its ETag. */
function pathsOfVersionedThings(paths: DocumentWithOperations["paths"]): ReadonlySet<string> {
  const found = Object.entries(paths).filter(([, operations]) =>
    Object.values(operations).some(({ parameters }) => parameters?.some(({ name }) => name === "If-Match")),
  );
  return new Set(found.map(([path]) => path));
}

/** Tells whether a POST to this path creates a thing whose path is in `versioned`. */
function isParentOf(versioned: ReadonlySet<string>, path: string): boolean {
  return [...versioned].some((one) => one.replace(/\/\{\w+\}$/, "") === path);
}

function describeAnswers(
  operation: DocumentedOperation,
  hasEtag: boolean,
  schemas: Readonly<Record<string, AnswerSchema>>,
): void {
  const { responses } = operation;
  const isCounted = operation["x-permission"] !== "none";
  for (const [status, answer] of Object.entries(responses)) {
    const code = codeOfStatus.get(status);
    if (code !== undefined && isProblem(answer)) {
      responses[status] = { $ref: `#/components/responses/${code}` } as DocumentedAnswer;
      continue;
    }
    const names: HeaderName[] = ["X-Request-Id", "traceresponse"];
    if (isCounted) names.push("RateLimit", "RateLimit-Policy");
    if (operation["x-replayable"] === true) names.push("Idempotency-Replayed");
    if (hasEtag || "304" in responses) names.push("ETag");
    if (status === "201" && hasId(answer, schemas)) names.push("Location");
    if (isFile(answer)) names.push("Content-Disposition");
    answer.headers = referencesTo(names);
  }
}

function isProblem({ content }: DocumentedAnswer): boolean {
  return content !== undefined && "application/problem+json" in content;
}

/** A 201 answer with the id of a thing also has the thing's address, as Location. */
function hasId({ content }: DocumentedAnswer, schemas: Readonly<Record<string, AnswerSchema>>): boolean {
  const namesId = (schema: AnswerSchema | undefined): boolean => {
    if (schema?.$ref !== undefined) return namesId(schemas[schema.$ref.split("/").at(-1) ?? ""]);
    if (schema?.anyOf !== undefined) return schema.anyOf.every(namesId);
    return Object.keys(schema?.properties ?? {}).some((name) => name.endsWith("Id"));
  };
  return namesId(content?.["application/json"]?.schema);
}

/** Tells whether the answer is a file to save: it is neither JSON nor a stream of events. */
function isFile({ content = {} }: DocumentedAnswer): boolean {
  const types = Object.keys(content);
  return types.length > 0 && !types.some((type) => type === "application/json" || type === "text/event-stream");
}

const codeOfStatus: ReadonlyMap<string, string> = new Map(
  Object.entries(errorKinds).map(([code, { status }]) => [String(status), code]),
);

/** Returns only those problems to which an operation refers. */
function problemAnswers(document: DocumentWithOperations): Readonly<Record<string, DocumentedAnswer>> {
  const text = JSON.stringify(document.paths);
  const used = Object.entries(errorKinds).filter(([code]) => text.includes(`"#/components/responses/${code}"`));
  return Object.fromEntries(used.map(([code, { meaning }]) => [code, problemAnswer(code, meaning)]));
}

function problemAnswer(code: string, meaning: string): DocumentedAnswer {
  const common: HeaderName[] = ["X-Request-Id", "traceresponse", "RateLimit", "RateLimit-Policy"];
  const names: HeaderName[] = [...common, "x-amzn-errortype", "x-amzn-requestid"];
  if (code === "AuthenticationError") names.push("WWW-Authenticate");
  if (code === "RateLimitError" || code === "UnavailableError") names.push("Retry-After");
  const schema = { $ref: "#/components/schemas/Problem" };
  const description = `${meaning} The problem's \`code\` is \`${code}\`.`;
  // If there is no room for the large answer to a submit, the submit was carried out all the same, and the error answer says where the job is.
  const made = code === "UnavailableError" && { Location: { $ref: "#/components/headers/MadeLocation" } };
  return {
    description,
    headers: { ...referencesTo(names), ...made },
    content: { "application/problem+json": { schema } },
  };
}

function referencesTo(names: readonly HeaderName[]): Readonly<Record<string, Reference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `required` means that the header is never missing where the document lists it for an answer. */
const headers = {
  "X-Request-Id": {
    description: "The id of this attempt of the request. It is also in the service's log and in the audit trail.",
    required: true,
    schema: { type: "string", format: "uuid" },
  },
  traceresponse: {
    description:
      "The trace of the request and the span of the service's work on it (W3C Trace Context). The header is there when the request has a valid `traceparent`.",
    schema: { type: "string", pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-00$" },
  },
  RateLimit: {
    description:
      "How much is left of the limit that is closest to being used up, and the number of seconds until the whole limit is available again. After a request that created something, the header also says how much is left of the maximum for such things. The header is there when a limit is in force and the request was counted. A request without a valid credential, or without the permission, is not counted.",
    schema: { type: "string", example: '"requests";r=1499987;t=37' },
  },
  "RateLimit-Policy": {
    description: "The limits to which `RateLimit` refers.",
    schema: { type: "string", example: '"requests";q=1500000;w=60' },
  },
  "Idempotency-Replayed": {
    description: "The header is present if this answer is the stored answer to an earlier, equal request.",
    schema: { type: "string", enum: ["true"] },
  },
  ETag: {
    description: "The state that this answer shows. Send it back in `If-Match` or `If-None-Match`.",
    required: true,
    schema: { type: "string", example: '"Zk1uQ0x0d2J5aE5rV3Jz"' },
  },
  Location: {
    description: "The path of the resource that the request created.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
  },
  MadeLocation: {
    description:
      "The path of the resource that the request created, if the request was carried out although its answer cannot be sent.",
    schema: { type: "string", format: "uri-reference" },
  },
  "Content-Disposition": {
    description: "The name under which a browser saves the answer.",
    required: true,
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "The number of seconds to wait before the next attempt.",
    required: true,
    schema: { type: "string", pattern: "^[0-9]+$" },
  },
  "WWW-Authenticate": {
    description: "The way to authenticate, which is always `Bearer`.",
    required: true,
    schema: { type: "string", enum: ["Bearer"] },
  },
  "x-amzn-errortype": {
    description: "The `code` of the problem, for clients that are generated from a REST-JSON model.",
    required: true,
    schema: { type: "string" },
  },
  "x-amzn-requestid": {
    description: "The same as `X-Request-Id`, for clients that are generated from a REST-JSON model.",
    required: true,
    schema: { type: "string", format: "uuid" },
  },
} as const;
