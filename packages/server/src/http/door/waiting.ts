import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import type { Config } from "../../config.ts";

export function waitSecondsSchema({ maxWaitSeconds }: Config) {
  return Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitSeconds,
      description: "The number of seconds for which the answer may wait until there is something to say.",
    }),
  );
}

/** Returns a deadline as a reading of `performance.now()`. */
export function deadlineIn(seconds: number): number {
  return performance.now() + seconds * 1000;
}

/** Returns a signal that aborts when the client disconnects before the whole answer is sent. */
export function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    // The event `close` also comes after the whole answer is sent. Nobody listens at that time, so an abort would be useless.
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
