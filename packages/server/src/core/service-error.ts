import { type Problem, sentence } from "./problem.ts";

/**
 * The codes of the expected errors. The code determines the HTTP status (`http/door/errors.ts`) and tells a program what it may do. The message is
 * for people. Any other thrown value is a defect, unless it is an error of the store that is answered with 503. A defect is logged completely, and
 * the answer shows nothing of it.
 */
export type ServiceErrorCode =
  | "ValidationError"
  | "AuthenticationError"
  | "AuthorizationError"
  | "NotFoundError"
  | "MethodNotAllowedError"
  | "ConflictError"
  | "PreconditionFailedError"
  | "PayloadTooLargeError"
  | "UnsupportedMediaTypeError"
  | "RateLimitError"
  | "UnavailableError";

/** A reason that a program handles specially: it asks the user for the missing part and sends the request again. */
export type ServiceErrorReason = "password-needed" | "code-needed" | "fresh-sign-in-needed";

export interface ServiceErrorDetails {
  readonly reason?: ServiceErrorReason;
  readonly problems?: readonly Problem[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** Set when a program must distinguish the error from others with the same code. */
  readonly reason: ServiceErrorReason | undefined;
  /** The problems of the input, with JSON pointers into the part of the request that is not valid, usually the body. */
  readonly problems: readonly Problem[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ServiceErrorCode, message: string, details: ServiceErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = code;
    this.code = code;
    this.reason = details.reason;
    this.problems = details.problems ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** Makes the error for a part of a request. The message has the first problem, and `problems` has all of them. */
export function invalidPart(part: string, problems: readonly Problem[]): ServiceError {
  const [first] = problems;
  const where = first === undefined || first.pointer === "" ? "it" : first.pointer;
  const message = sentence(`The ${part} is not valid: ${where} ${first?.detail}`);
  return new ServiceError("ValidationError", message, { problems });
}

/** The message is the same whether the thing does not exist or belongs to another organization, so that nobody can tell the two cases apart. */
export function notFound(kind: string): ServiceError {
  return new ServiceError(
    "NotFoundError",
    `There is no such ${kind}, or you have no access to it. Check the ids in the path and in the body.`,
  );
}
