import { whyRejected } from "../../outbound/address-rule.ts";
import { NotConnectedError, RefusedAddressError, UnresolvedNameError } from "../../outbound/guarded-connector.ts";
import { failed } from "../call-failure.ts";
import type { CallFailure } from "../executor.ts";
import { BodyTooLargeError, UnreadableBodyError } from "./http-body.ts";
import { InterimAnswersError, RedirectError } from "./http-exchange.ts";
import { type HttpRequest, placeOf } from "./http-request.ts";

export interface FailedRequest {
  readonly request: HttpRequest;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Turns an error of the exchange into a failure that says what happened. It names neither the query nor a header, because both may hold secrets. A
 * defect of the service is thrown again.
 */
export function failureOf(error: unknown, call: FailedRequest): CallFailure {
  const place = placeOf(call.request);
  const fail = (kind: CallFailure["kind"], type: string, happened: string) =>
    failed(kind, { code: "ExecutorError", message: `${place} ${happened}`, type });
  if (call.signal.aborted) return abandoned(place, call);
  if (error instanceof BodyTooLargeError) return tooLarge(place, error);
  // The request was carried out, and a second one would get the same answer.
  if (error instanceof UnreadableBodyError)
    return fail("permanent", "UnreadableBody", `answered with a body that ${error.message}.`);
  if (error instanceof RedirectError) return fail("permanent", error.type, `${error.message}.`);
  if (error instanceof InterimAnswersError)
    return fail("ordinary", "InvalidAnswer", "sends interim answers, but no final answer.");
  if (error instanceof NotConnectedError) return unconnected(error.cause, fail);
  const fault = faultOf(error);
  const { code } = fault;
  if (isInvalid(fault))
    return fail("ordinary", "InvalidAnswer", `answered with something that is not valid HTTP (${code}).`);
  if (!isBrokenConnection(code)) throw error;
  const kind = isRepeatable(call.request) ? "transient" : "ordinary";
  return fail(
    kind,
    "ConnectionBroken",
    `did not send a complete answer: the connection broke (${code}). The request may have been carried out.`,
  );
}

type Fail = (kind: CallFailure["kind"], type: string, happened: string) => CallFailure;

function unconnected(cause: Error, fail: Fail): CallFailure {
  if (cause instanceof RefusedAddressError)
    return fail("permanent", "AddressRefused", `leads to an address that ${whyRejected}.`);
  const { code } = faultOf(cause);
  if (cause instanceof UnresolvedNameError) {
    return fail("transient", "NameNotResolved", `cannot be reached: its name does not resolve (${code}).`);
  }
  if (isCertificateProblem(code)) {
    return fail("ordinary", "CertificateRejected", `cannot be called: its TLS certificate is not accepted (${code}).`);
  }
  return fail("transient", "ConnectionFailed", `cannot be reached: there is no connection (${code}).`);
}

/** The failure of an aborted request. The dispatcher owns the signal and makes its own text for this outcome. The text of this function is for other callers. */
function abandoned(place: string, { signal, timeoutMs }: FailedRequest): CallFailure {
  if ((signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError") {
    return failed("ordinary", { code: "Timeout", message: `${place} did not answer within ${timeoutMs / 1000} s.` });
  }
  return failed("ordinary", { code: "ExecutorError", message: `${place} was given up before it answered.` });
}

function tooLarge(place: string, error: BodyTooLargeError): CallFailure {
  const message = `${place} ${error.message}. Request a smaller part, or a link to the data.`;
  return failed("permanent", { code: "OutputTooLarge", message });
}

/** Whether the method is idempotent, as HTTP defines it: sending the request twice does the same as sending it once. */
function isRepeatable({ method }: HttpRequest): boolean {
  return method !== "POST" && method !== "PATCH";
}

interface Fault {
  readonly name: string;
  readonly code: string;
}

function faultOf(error: unknown): Fault {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  return { name: String(name), code: String(code ?? name) };
}

function isInvalid({ name, code }: Fault): boolean {
  return (
    name === "HTTPParserError" || code === "UND_ERR_HEADERS_OVERFLOW" || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"
  );
}

/** Whether the connection broke. The code comes from the library, from the system (such as ECONNRESET) or from TLS. */
function isBrokenConnection(code: string): boolean {
  return /^(UND_ERR_(SOCKET|ABORTED|CLOSED|DESTROYED)|E[A-Z0-9]+|ERR_SSL_\w+)$/.test(code);
}

/** Whether the certificate is not trusted. The code comes from OpenSSL, or from Node.js, which checks the name of the host. */
function isCertificateProblem(code: string): boolean {
  return /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH)/.test(code);
}
