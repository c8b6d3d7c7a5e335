import { type Problem, sentence } from "./problem.ts";

/**
 * The expected errors, named once. The code fixes the HTTP status (`http/door/errors.ts`) and tells a program what it may do; the
 * message tells a person. Everything else that is thrown is a defect: logged whole, shown as nothing.
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

/** A problem that a program answers in a way of its own: it asks the person for what is missing and sends the request again. */
export type ServiceErrorReason = "password-needed" | "code-needed" | "fresh-sign-in-needed";

export interface ServiceErrorDetails {
  readonly reason?: ServiceErrorReason;
  readonly problems?: readonly Problem[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** Tells the error apart from others of its code, where a program needs that. */
  readonly reason: ServiceErrorReason | undefined;
  /** What is wrong in the input, with JSON pointers into the request body. */
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

/** Says what is wrong with a part of a request: the first problem in the message, all of them beside it. */
export function invalidPart(part: string, problems: readonly Problem[]): ServiceError {
  const [first] = problems;
  const where = first === undefined || first.pointer === "" ? "it" : first.pointer;
  const message = sentence(`The ${part} is not valid: ${where} ${first?.detail}`);
  return new ServiceError("ValidationError", message, { problems });
}

/** Uses one wording whether the thing does not exist or is another organization's: nobody can tell the two apart. */
export function notFound(kind: string): ServiceError {
  return new ServiceError(
    "NotFoundError",
    `There is no such ${kind}, or you have no access to it. Check the ids in the path and in the body.`,
  );
}
