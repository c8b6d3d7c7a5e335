import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Problem } from "../../core/problem.ts";
import { ServiceError, type ServiceErrorCode } from "../../core/service-error.ts";
import {
  DiskFullError,
  ReadDeadlineError,
  RowHeldError,
  StatementGivenUpError,
  StoreUnavailableError,
  TransactionAbortedError,
} from "../../store/home/database.ts";

interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** The meaning, as a sentence for the API document. */
  readonly meaning: string;
}

/** The taxonomy of errors: each code has one status and one title. `UnhandledError` is a defect of the service. */
export const errorKinds: Readonly<Record<AnswerCode, ErrorKind>> = {
  ValidationError: { status: 400, title: "The request is not valid", meaning: "The request is not valid." },
  AuthenticationError: { status: 401, title: "Not authenticated", meaning: "The request has no valid credential." },
  AuthorizationError: { status: 403, title: "Not allowed", meaning: "The caller is not allowed to do this." },
  NotFoundError: { status: 404, title: "Not found", meaning: "The thing does not exist, or the caller cannot see it." },
  MethodNotAllowedError: {
    status: 405,
    title: "Method not allowed",
    meaning: "The path does not support this method.",
  },
  ConflictError: {
    status: 409,
    title: "In conflict with the current state",
    meaning: "The request is in conflict with the current state.",
  },
  PreconditionFailedError: {
    status: 412,
    title: "Changed since it was read",
    meaning: "The thing is not in the state that `If-Match` or `If-None-Match` demands.",
  },
  PayloadTooLargeError: { status: 413, title: "Too large", meaning: "The request is larger than the service accepts." },
  UnsupportedMediaTypeError: { status: 415, title: "Unsupported media type", meaning: "The body is not plain JSON." },
  RateLimitError: { status: 429, title: "Too many", meaning: "A limit on requests is reached." },
  UnhandledError: {
    status: 500,
    title: "Internal error",
    meaning: "The service failed for an unexpected reason.",
  },
  UnavailableError: {
    status: 503,
    title: "Not available at the moment",
    meaning: "The service cannot carry out the request at the moment.",
  },
};

export type AnswerCode = ServiceErrorCode | "UnhandledError";

/** Problem details as in RFC 9457. Generated clients of REST-JSON services read the last four fields. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: AnswerCode;
  readonly requestId: string;
  readonly errors?: readonly Problem[];
  readonly message: string;
  readonly errorType: AnswerCode;
  readonly statusCode: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/**
 * Turns an error into an answer of the API. No function outside of this file does that; pages show errors in their own way. Returns the code, so that
 * the caller can log a defect.
 */
export function sendError(reply: FastifyReply, error: unknown): AnswerCode {
  const known = asServiceError(error);
  const code = known?.code ?? "UnhandledError";
  const details = problemDetails(known, reply.request.id);
  reply.code(details.status).type("application/problem+json");
  reply.header("x-amzn-errortype", code).header("x-amzn-requestid", details.requestId);
  if (code === "AuthenticationError") reply.header("www-authenticate", "Bearer");
  if (code === "RateLimitError" || code === "UnavailableError") {
    reply.header("retry-after", String(known?.retryAfterSeconds ?? defaultRetryAfterSeconds));
  }
  void reply.send(details);
  return code;
}

/** Answers a request for an unknown path, or for a known path that has only other methods. */
export function sendNoSuchOperation(reply: FastifyReply, allowedMethods: readonly string[]): void {
  const allowed = allowedMethods.join(", ");
  if (allowed !== "") reply.header("allow", allowed);
  const error =
    allowed === ""
      ? new ServiceError("NotFoundError", "There is no such path. GET /openapi.json lists the paths of the API.")
      : new ServiceError("MethodNotAllowedError", `This path supports only ${allowed}.`);
  sendError(reply, error);
}

/** Answers bytes that never became a whole request: they are not HTTP, the headers are too large, or the request arrives too slowly. */
export function answerBrokenRequest(
  error: Error & { readonly code?: string },
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const answer = brokenAnswer(brokenRequests[error.code ?? ""] ?? notHttp, headers);
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  const start = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`;
  socket.end([start, ...lines, "", answer.body].join("\r\n"));
}

/** Answers a request whose header `Expect` is not `100-continue`. Node.js passes such a request to no route. */
export function answerExpectation(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  const { status, headers: all, body } = brokenAnswer(unknownExpectation, headers);
  response.writeHead(status, all).end(body);
}

interface BrokenRequest {
  readonly status: number;
  readonly detail: string;
}

/** This is also the default of Node.js. It is set here, because a command-line option of Node.js could change the default. */
export const maxHeaderBytes = 16_384;

const notHttp: BrokenRequest = { status: 400, detail: "The bytes that were sent are not a valid HTTP request." };
const unknownExpectation: BrokenRequest = {
  status: 417,
  detail: "The service supports only `Expect: 100-continue`. Leave the header out.",
};
const brokenRequests: Readonly<Record<string, BrokenRequest>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `The headers are too large. Send at most ${maxHeaderBytes / 1_024} KiB of headers.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request did not arrive in time. Send it faster." },
};

function brokenAnswer({ status, detail }: BrokenRequest, headers: Readonly<Record<string, string>>) {
  const known = new ServiceError("ValidationError", detail);
  const details = { ...problemDetails(known, randomUUID()), title: STATUS_CODES[status], status, statusCode: status };
  const body = JSON.stringify(details);
  const { code, requestId } = details;
  return {
    status,
    body,
    headers: {
      ...headers,
      "content-type": "application/problem+json",
      "x-amzn-errortype": code,
      "x-amzn-requestid": requestId,
      "x-request-id": requestId,
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    },
  };
}

const defaultRetryAfterSeconds = 1;

export function problemDetails(error: ServiceError | undefined, requestId: string): ProblemDetails {
  const code = error?.code ?? "UnhandledError";
  const { status, title } = errorKinds[code];
  const detail =
    error?.message ?? `Something went wrong here; it is not your fault. Report it with the id ${requestId}.`;
  const problems = error?.problems ?? [];
  return {
    type: ["urn:stepwell:error", code, ...(error?.reason === undefined ? [] : [error.reason])].join(":"),
    title,
    status,
    detail,
    code,
    requestId,
    message: detail,
    errorType: code,
    statusCode: status,
    ...(problems.length > 0 && { errors: problems, fields: fieldsOf(problems) }),
  };
}

/** Maps each pointer to its detail. Several problems of one value are joined. */
function fieldsOf(problems: readonly Problem[]): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const { pointer, detail } of problems) {
    const before = fields.get(pointer);
    fields.set(pointer, before === undefined ? detail : `${before}; ${detail}`);
  }
  return Object.fromEntries(fields);
}

/** Returns undefined for an error that is a defect. */
function asServiceError(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreUnavailableError) return storeUnavailable(error);
  if (error instanceof ReadDeadlineError) {
    const message = `This read took longer than ${error.deadlineMs} ms and was given up. Ask for less (a shorter range, a narrower filter, a smaller page; for a large job, ListJobSteps), or ask again later.`;
    return new ServiceError("UnavailableError", message, { retryAfterSeconds: 5 });
  }
  if (error instanceof TransactionAbortedError) {
    return new ServiceError("UnavailableError", "The store was busy with another change. Ask again.");
  }
  return error instanceof Error && "code" in error ? frameworkErrors[String(error.code)]?.() : undefined;
}

function storeUnavailable(error: StoreUnavailableError): ServiceError {
  const retryAfterSeconds = error instanceof DiskFullError ? 5 : 2;
  return new ServiceError("UnavailableError", detailOfUnavailable(error), { retryAfterSeconds });
}

function detailOfUnavailable(error: StoreUnavailableError): string {
  if (error.fate === "unknown") {
    return "The store is out of reach. The result of this change is unknown. Retry with the same Idempotency-Key.";
  }
  if (error instanceof DiskFullError) {
    return "The disk of the store is full. Nothing was changed. Ask again once the operator has made room.";
  }
  if (error instanceof RowHeldError) {
    return "Another transaction in the database has locked a row that this request needs. Nothing was changed. Ask again in a moment.";
  }
  if (error instanceof StatementGivenUpError) {
    return "The database gave up a statement of this request: the statement took too long, or the database lacked a resource or could not read its data. Nothing was changed. Ask again in a moment.";
  }
  return "The store is out of reach. Nothing was changed. Ask again in a moment.";
}

/** The errors of requests that the HTTP framework itself rejects. */
const frameworkErrors: Readonly<Record<string, () => ServiceError>> = {
  // The client disconnected while its body was read, so nobody reads this answer.
  ECONNRESET: () => new ServiceError("ValidationError", "The connection ended before the request was complete."),
  FST_ERR_BAD_URL: () =>
    new ServiceError(
      "ValidationError",
      "The path is not valid: each `%` must be followed by two hexadecimal digits, and the bytes that these give must be valid UTF-8.",
    ),
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ServiceError(
      "PayloadTooLargeError",
      "The request body is larger than this service accepts. Store large values elsewhere, and send links to them.",
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ServiceError("UnsupportedMediaTypeError", "Send JSON, with the header `Content-Type: application/json`."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError("ValidationError", "The body does not have the length that Content-Length says."),
};
