import { setMaxListeners } from "node:events";
import { finished, Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Permission } from "../../auth/permissions/permissions.ts";
import { whileRead } from "../door/answers/unread-pieces.ts";
import type { ServerParts } from "../door/app.ts";
import { isStillAllowed } from "../door/authorization.ts";

/** While a stream is quiet, it checks this often whether its caller still has access. */
export const lookMs = 1_000;
/** The part of a history that a stream reads in one go, and keeps in memory while its client reads slowly. `maxSize` is in characters and members. */
export const slice = { limit: 200, maxSize: 1_000_000 };

/** Proxies must not buffer entries. The connection closes when the stream ends, because an open connection would delay the stop of the server. */
const streamHeaders = { "x-accel-buffering": "no", connection: "close" };

export const streamResponse = {
  description: "The stream.",
  content: { "text/event-stream": { schema: Type.Unsafe<Readable>({ type: "string" }) } },
};

/**
 * Wakes a stream. The bell rings when there may be something new, and when the server begins to close. A ring while nobody waits is kept for the next
 * wait.
 */
export class Bell {
  #rung = Promise.withResolvers<boolean>();
  #isOver = false;

  readonly ring = (): void => this.#rung.resolve(true);

  /** True when the client has disconnected or has received the whole stream. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.ring();
  }

  /** Returns false when the bell did not ring in time. */
  async heard(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = this.#rung;
    const timer = setTimeout(resolve, timeoutMs, false);
    const isRung = await promise;
    clearTimeout(timer);
    this.#rung = Promise.withResolvers();
    return isRung;
  }
}

/** Returns a function that tells whether the caller may still read. It checks this at most once in `lookMs`. */
export function accessCheck(
  request: FastifyRequest,
  permission: Permission | "any",
  parts: ServerParts,
): () => Promise<boolean> {
  let checkedAt = performance.now();
  return async () => {
    if (performance.now() - checkedAt < lookMs) return true;
    checkedAt = performance.now();
    return await isStillAllowed(request, permission, parts);
  };
}

interface Streamed {
  readonly organizationId: string;
  readonly parts: ServerParts;
  readonly bell: Bell;
  /** Ends the watches that ring the bell. */
  readonly unwatch: () => void;
}

export function sendStream(
  reply: FastifyReply,
  pieces: AsyncGenerator<string>,
  { organizationId, parts, bell, unwatch }: Streamed,
): FastifyReply {
  const { closing } = parts;
  // Each stream listens to this signal, and Node.js would warn of a leak at more than ten listeners.
  setMaxListeners(0, closing);
  closing.addEventListener("abort", bell.ring);
  const stream = Readable.from(whileRead(pieces, reply, organizationId, parts), { highWaterMark: 1 });
  // The generator cannot do this: a generator that never began runs no `finally`.
  const end = () => {
    unwatch();
    bell.end();
    closing.removeEventListener("abort", bell.ring);
  };
  stream.once("close", end);
  // The stream itself closes only after the generator has given its next piece. Without the next line, a client that disconnects while the stream is
  // quiet would keep its waiting places for many seconds.
  finished(reply.raw, end);
  return reply.type("text/event-stream").headers(streamHeaders).send(stream);
}

export function serverSentEvent(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
