import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import type { Config } from "../../config.ts";

/** The query parameter of an operation that can hold its answer. */
export function waitSecondsSchema({ maxWaitSeconds }: Config) {
  return Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitSeconds,
      description: "The number of seconds for which the answer may wait until there is something to say.",
    }),
  );
}

/** A reading of `performance.now()`. */
export function deadlineIn(seconds: number): number {
  return performance.now() + seconds * 1000;
}

/** Aborts when the client has gone: nobody reads the answer any more. */
export function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    // The connection is also closed once the answer is sent: then nobody listens, and an abort would cost for nothing.
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
