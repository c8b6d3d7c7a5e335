import type { Config } from "../../../config.ts";
import { ServiceError } from "../../../core/service-error.ts";
import type { AnswerRoom } from "../answer-room.ts";
import type { App } from "../app.ts";

/**
 * Bounds the total size of the large answers that clients have not read yet. An answer stays in memory until it is read, so clients that ask for
 * large answers and never read them would fill the memory. If a client reads nothing of a large answer for `requestTimeoutMs`, its connection is
 * closed.
 */
export function boundUnreadAnswers(
  app: App,
  room: AnswerRoom,
  { requestTimeoutMs }: Pick<Config, "requestTimeoutMs">,
): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (request.method === "HEAD") return done(null, payload);
    const isWhole = typeof payload === "string" || Buffer.isBuffer(payload);
    // An answer in pieces gives its size in the header content-length. Without this header it counts as 0 here, and `whileRead` bounds it.
    const size = isWhole ? payload.length : Number(reply.getHeader("content-length") ?? 0);
    if (size < large) return done(null, payload);
    const { organizationId = "" } = (request.params ?? {}) as { readonly organizationId?: string };
    const free = room.take(organizationId, size);
    if (free === undefined) return done(tooManyUnread(request.method));
    reply.raw.setTimeout(requestTimeoutMs);
    reply.raw.once("close", free);
    done(null, payload);
  });
}

/** The smallest size that is counted, in characters or bytes. Smaller answers cannot fill the memory, since there are too few connections. */
const large = 100_000;

function tooManyUnread(method: string): ServiceError {
  const tooMany =
    "Too many large answers of this organization, or of all organizations, wait to be read. Read those that you asked for";
  return new ServiceError(
    "UnavailableError",
    method === "GET"
      ? `${tooMany}, and ask for this answer again.`
      : `The request was carried out, but its answer is large. ${tooMany}, and repeat the request under the same Idempotency-Key, if it had one.`,
  );
}
