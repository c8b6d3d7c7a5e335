/** The answer of the service to a request that did not succeed (RFC 9457). */
export interface Problem {
  /** A URN that names the kind of error, such as `urn:stepwell:error:NotFoundError`. */
  readonly type?: string;
  readonly title: string;
  readonly status: number;
  /** A sentence that says what is wrong and what to do. */
  readonly detail: string;
  readonly code: string;
  readonly requestId?: string;
  readonly errors?: readonly InputProblem[];
}

/** One thing that is wrong in the input. */
export interface InputProblem {
  /** JSON pointer into the input. Empty for the whole input. */
  readonly pointer: string;
  readonly detail: string;
  /**
   * The place in the text of a definition; errors in other inputs have none. Lines and columns count from 1 and offsets from 0. Columns and offsets
   * are in UTF-16 code units.
   */
  readonly line?: number;
  readonly column?: number;
  readonly offset?: number;
}

/**
 * Thrown for every answer that is not a success or does not come from Stepwell, and for a value that cannot be a part of a path. Also thrown, with
 * the `status` 0, when the service cannot be reached and when a call takes longer than its `timeoutMs`. `isNotFound` and the other functions below
 * distinguish the errors.
 */
export class StepwellError extends Error {
  /**
   * The stable code of the error, such as `ConflictError`, which programs can compare. `UnavailableError` with the status 0 means that there was no
   * answer. `TimeoutError` means that the call took longer than its `timeoutMs`.
   */
  readonly code: string;
  /**
   * The HTTP status, or 0 if there was no answer or the call took too long. For a value that cannot be a part of a path, such as `..`, it is 400, and
   * no request is sent.
   */
  readonly status: number;
  readonly title: string;
  /** A sentence that says what is wrong and what to do. `message` also lists the `errors`, unless `detail` contains them. */
  readonly detail: string;
  /**
   * A URN that names the kind of error. If the request lacks something for which a program can ask a person, such as a password, the URN names it
   * (`…:password-needed`). `code` does not name it.
   */
  readonly type: string | undefined;
  /** The id of the request in the log of the service. */
  readonly requestId: string | undefined;
  /** Everything that is wrong in the input. */
  readonly errors: readonly InputProblem[];
  /** How many seconds the client should wait before the next request, if the service says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem, cause?: unknown, retryAfterSeconds?: number) {
    const { code, status, title, detail, type, requestId, errors = [] } = problem;
    super(detail + listOf(errors, detail), cause === undefined ? {} : { cause });
    this.name = code;
    this.code = code;
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.type = type;
    this.requestId = requestId;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The JSON pointers to all that is wrong in the input. */
  get pointers(): readonly string[] {
    return this.errors.map(({ pointer }) => pointer);
  }
}

function listOf(errors: readonly InputProblem[], detail: string): string {
  const [first] = errors;
  const isSaid = errors.length === 1 && first !== undefined && detail.includes(`${first.pointer} ${first.detail}`);
  return isSaid ? "" : errors.map((error) => `\n  ${error.pointer || "(whole)"}: ${error.detail}`).join("");
}

/** The resource does not exist, or belongs to an organization that the caller cannot see (404). */
export function isNotFound(error: unknown): error is StepwellError {
  return hasStatus(error, 404);
}

/** The credential is not valid (401), or does not allow this operation (403). */
export function isNotAllowed(error: unknown): error is StepwellError {
  return hasStatus(error, 401, 403);
}

/**
 * The request conflicts with the current state, such as a taken name or a finished job (409), or the state is not the one that the caller had read
 * (412).
 */
export function isConflict(error: unknown): error is StepwellError {
  return hasStatus(error, 409, 412);
}

/** The input is not valid (400): `errors` says where. */
export function isInvalid(error: unknown): error is StepwellError {
  return hasStatus(error, 400);
}

/** There was no answer (0), or the service was not available (502, 503, 504). Whether the request was carried out is unknown. */
export function isUnreachable(error: unknown): error is StepwellError {
  return hasStatus(error, 0, 502, 503, 504) && !isTimeout(error);
}

/** The call took longer than its `timeoutMs`. */
export function isTimeout(error: unknown): error is StepwellError {
  return error instanceof StepwellError && error.code === "TimeoutError";
}

/** The error of a request to which there was no answer, or no complete one. */
export function noAnswer(detail: string, cause?: unknown): StepwellError {
  return new StepwellError({ title: "Unreachable", status: 0, detail, code: "UnavailableError" }, cause);
}

/** The error of an answer that does not come from Stepwell. `what` describes that answer. */
export function foreignAnswer(status: number, what: string): StepwellError {
  const detail = `The service answered ${status} with ${what}. Is this the address of the service?`;
  return new StepwellError({ title: "Unexpected answer", status, detail, code: "UnhandledError" });
}

/** The error of a value that cannot be a part of a path. It looks like the error that the service returns for any other invalid value. */
export function unsendable(name: string, rule: string): StepwellError {
  const detail = `The path is not valid: /${name} ${rule}.`;
  const errors = [{ pointer: `/${name}`, detail: rule }];
  return new StepwellError({ title: "The request is not valid", status: 400, detail, code: "ValidationError", errors });
}

/** The error of a call that took longer than its `timeoutMs`. */
export function tooLate(timeoutMs: number | undefined, cause?: unknown): StepwellError {
  const detail = `The call took longer than its timeoutMs, which is ${timeoutMs}.`;
  return new StepwellError({ title: "Too late", status: 0, detail, code: "TimeoutError" }, cause);
}

/** Tells whether the request may succeed a moment later: the service cannot be reached, or asks for fewer requests. */
export function isPassing(error: unknown): error is StepwellError {
  return isUnreachable(error) || hasStatus(error, 429);
}

function hasStatus(error: unknown, ...statuses: readonly number[]): error is StepwellError {
  return error instanceof StepwellError && statuses.includes(error.status);
}
