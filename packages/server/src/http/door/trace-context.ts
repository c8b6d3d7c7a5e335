import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The ids of W3C Trace Context: of the trace of a request, of the caller's span, and of the span of this service's work on the request. */
export interface TraceContext {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly spanId: string;
}

/** Returns undefined when there is no `traceparent`, or it is malformed or sent twice: the specification says to ignore such a header. */
export function readTraceContext({ traceparent }: IncomingHttpHeaders): TraceContext | undefined {
  const [, version, traceId, parentSpanId, rest] = traceparentForm.exec(String(traceparent ?? "")) ?? [];
  if (traceId === undefined || parentSpanId === undefined || version === "ff") return undefined;
  // Later versions may add parts after those of the first version.
  if (version === "00" && rest !== undefined) return undefined;
  if (isZero.test(traceId) || isZero.test(parentSpanId)) return undefined;
  return { traceId, parentSpanId, spanId: randomBytes(8).toString("hex") };
}

/** Writes the answer's header. Its last part, the flags, says that the span is not recorded for tracing. The span appears only in the log. */
export function traceResponse({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-00`;
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,256})?$/;
const isZero = /^0+$/;
