import { bounded, failed } from "../call-failure.ts";
import type { CallFailure } from "../executor.ts";
import { AnswerTooLargeError } from "./cloud-function-answer-bound.ts";
import { RoleError } from "./cloud-function-role.ts";
import type { FunctionTarget } from "./cloud-function-target.ts";

/** The details that the message about a failed call may name. */
export interface FailedCall {
  readonly target: FunctionTarget;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Turns an error of the SDK into a failure that says what to do. AWS's own messages about credentials are left out: after a wrong signature they
 * repeat the whole signed request, including the session token.
 */
export function failureOf(error: unknown, call: FailedCall): CallFailure {
  if (call.signal.aborted) return abandoned(call);
  if (error instanceof AnswerTooLargeError) return answerTooLarge(error.maxBytes);
  if (error instanceof RoleError) return roleFailure(error, call.target);
  const fault = faultOf(error);
  return (
    connectionFailure(fault, call) ??
    credentialsFailure(fault) ??
    temporaryFailure(fault, "Lambda") ??
    rejectionOf(fault, call.target)
  );
}

export function answerTooLarge(maxBytes: number): CallFailure {
  const message = `The function's answer is larger than ${maxBytes} bytes. Let the function store large data elsewhere, and return a link to the data.`;
  return failed("permanent", { code: "OutputTooLarge", message });
}

/** The relevant fields of a thrown value, which can have any type. */
interface Fault {
  readonly name: string;
  readonly message: string;
  /** The error code that Node.js gives a system error. */
  readonly code: string | undefined;
  /** The name of the system call that failed; undefined for the SDK's own timeout. */
  readonly syscall: string | undefined;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
}

function faultOf(error: unknown): Fault {
  const { name, message, code, syscall, $metadata } = (error ?? {}) as Record<string, unknown> & {
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  return {
    name: bounded(textOf(name) ?? "Error", 100),
    // On further lines, the SDK appends advice for its own callers. It is cut off.
    message: (textOf(message) ?? String(error)).split("\n", 1)[0] ?? "",
    code: textOf(code),
    syscall: textOf(syscall),
    status: $metadata?.httpStatusCode,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * The failure of an aborted call. The dispatcher owns the signal and makes its own text for this outcome. The text of this function is for other
 * callers.
 */
function abandoned({ signal, timeoutMs }: FailedCall): CallFailure {
  if ((signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError") return timedOut(timeoutMs);
  return failed("ordinary", {
    code: "ExecutorError",
    message: "The service gave up the call before the function answered.",
  });
}

function timedOut(timeoutMs: number): CallFailure {
  return failed("ordinary", { code: "Timeout", message: `The function did not answer within ${timeoutMs / 1000} s.` });
}

const connectionCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
]);

function connectionFailure(fault: Fault, { target, timeoutMs }: FailedCall): CallFailure | undefined {
  if (isRequestTimeout(fault)) return timedOut(timeoutMs);
  const isConnectTimeout = fault.name === "TimeoutError" && fault.code === undefined;
  if (!isConnectTimeout && !connectionCodes.has(fault.code ?? "")) return undefined;
  const reason = fault.code ?? "no connection in time";
  const message = `There is no connection to ${placeOf(target)} (${reason}). Check the region, the endpoint and the network.`;
  return failed("transient", { code: "ExecutorError", message });
}

/**
 * Whether the error is the SDK's own timeout. A broken connection has the same name, and a failed connect has the same code. Only the timeout has
 * both and no system call.
 */
function isRequestTimeout({ name, code, syscall }: Fault): boolean {
  return name === "TimeoutError" && code === "ETIMEDOUT" && syscall === undefined;
}

function placeOf({ access }: FunctionTarget): string {
  return access.endpoint === undefined ? `Lambda in ${access.region}` : new URL(access.endpoint).origin;
}

const refusedCredentials = new Set([
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  "IncompleteSignature",
  "IncompleteSignatureException",
  "MissingAuthenticationToken",
  "MissingAuthenticationTokenException",
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
]);

function credentialsFailure({ name }: Fault): CallFailure | undefined {
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    const remedy =
      "give the service its credentials by environment variables, a profile, or the role of its machine or container";
    return failed("ordinary", {
      code: "ExecutorError",
      message: `No AWS credentials were found: ${remedy}.`,
      type: name,
    });
  }
  if (!refusedCredentials.has(name)) return undefined;
  const message = `AWS refused the service's credentials (${name}): renew them, and check the machine's clock.`;
  return failed("ordinary", { code: "ExecutorError", message, type: name });
}

const throttlingNames = new Set([
  "TooManyRequestsException",
  "ThrottlingException",
  "Throttling",
  "RequestLimitExceeded",
]);

/**
 * The failure of a call that may succeed later. A ResourceConflictException (status 409) means that the function is being created or updated, and
 * will be ready soon.
 */
function temporaryFailure({ name, status = 0, message }: Fault, service: string): CallFailure | undefined {
  if (status === 429 || throttlingNames.has(name))
    return temporary(name, `${service} throttled the call (${name})`, message);
  if (status >= 500) return temporary(name, `${service} failed with status ${status} (${name})`, message);
  if (name === "ResourceConflictException") return temporary(name, "The function is not ready", message);
  return undefined;
}

function temporary(type: string, what: string, message: string): CallFailure {
  return failed("transient", { code: "ExecutorError", message: bounded(`${what}: ${message}`), type });
}

function rejectionOf({ name, status, message, code }: Fault, { arn }: FunctionTarget): CallFailure {
  const refused = (kind: CallFailure["kind"], text: string) =>
    failed(kind, { code: "ExecutorError", message: bounded(text), type: name });
  if (status === 404) {
    return refused("ordinary", `There is no ${arn}. Check region, accountId, functionName and qualifier.`);
  }
  if (status === 403) {
    return refused(
      "ordinary",
      `The service may not call ${arn}. Allow lambda:InvokeFunction on the function for the identity that calls it.`,
    );
  }
  if (status === 413) {
    return refused("permanent", `The step's input is larger than Lambda accepts: ${message}`);
  }
  if (status !== undefined) return refused("ordinary", `Lambda refused the call with status ${status}: ${message}`);
  return refused("ordinary", `The call of ${arn} failed (${code ?? name}): ${message}`);
}

function roleFailure({ role, cause }: RoleError, target: FunctionTarget): CallFailure {
  const fault = faultOf(cause);
  const isUnreachable = fault.name === "TimeoutError" || connectionCodes.has(fault.code ?? "");
  if (isUnreachable) {
    const message = `There is no connection to AWS STS in ${target.access.region} (${fault.code ?? "no answer in time"}).`;
    return failed("transient", { code: "ExecutorError", message });
  }
  const message =
    `The service may not assume ${role.roleArn} (${fault.name}). The role must exist, and its trust policy must allow the ` +
    `service's identity with the external id ${role.organizationId}.`;
  return (
    credentialsFailure(fault) ??
    temporaryFailure(fault, "AWS STS") ??
    failed("ordinary", { code: "ExecutorError", message, type: fault.name })
  );
}
