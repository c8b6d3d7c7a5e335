import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { App } from "./app.ts";
import { loggedPath } from "./logged-path.ts";
import { readTraceContext, traceResponse } from "./trace-context.ts";

/** Copies the caller's trace into the answer and the log. At the level `debug` the log has a line for each request. */
export function logRequests(app: App, logger: Logger): void {
  const isEach = logger.isLevelEnabled("debug");
  app.addHook("onRequest", (request, reply, done) => {
    if (request.headers.traceparent !== undefined) {
      request.trace = readTraceContext(request.headers) ?? null;
      if (request.trace !== null) reply.header("traceresponse", traceResponse(request.trace));
    }
    if (isEach) {
      const startedAt = performance.now();
      // The request is described before it is handled, since the sign-in later removes its prefix from the path.
      const described = describeRequest(request);
      reply.raw.once("close", () => {
        const { statusCode, writableFinished } = reply.raw;
        const durationMs = Math.round(performance.now() - startedAt);
        const answered = { status: statusCode, isWhole: writableFinished, durationMs };
        logger.debug({ ...described, ...answered }, "a request was answered");
      });
    }
    done();
  });
}

/** Returns the fields that each log line about a request has. */
export function describeRequest(request: FastifyRequest) {
  const { id: requestId, method, trace, routeOptions } = request;
  const operation = routeOptions.schema?.operationId;
  return { requestId, method, path: loggedPath(request), ...(operation !== undefined && { operation }), ...trace };
}
