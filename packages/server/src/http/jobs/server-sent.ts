import { setMaxListeners } from "node:events";
import { finished, Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";

/** How often a quiet stream looks whether its token still holds. */
export const lookMs = 1_000;
export const entriesAtOnce = 200;

/** No proxy may hold entries back; and a connection that was kept open after its stream would outlive a closing server. */
const streamHeaders = { "x-accel-buffering": "no", connection: "close" };

export const streamResponse = {
  description: "The stream.",
  content: { "text/event-stream": { schema: Type.Unsafe<Readable>({ type: "string" }) } },
};

/** Rung when there may be something new, and when the server begins to close. A ring while nobody listens is heard by the next who does. */
export class Bell {
  #rung = Promise.withResolvers<boolean>();
  #isOver = false;

  readonly ring = (): void => this.#rung.resolve(true);

  /** The client is gone, or has all of the stream. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.ring();
  }

  /** False when nothing was heard in time. */
  async heard(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = this.#rung;
    const timer = setTimeout(resolve, timeoutMs, false);
    const isRung = await promise;
    clearTimeout(timer);
    this.#rung = Promise.withResolvers();
    return isRung;
  }
}

interface Streamed {
  readonly closing: AbortSignal;
  readonly bell: Bell;
  /** Stops what rings the bell. */
  readonly unwatch: () => void;
}

/** Answers with the pieces as they come. */
export function sendStream(
  reply: FastifyReply,
  pieces: AsyncGenerator<string>,
  { closing, bell, unwatch }: Streamed,
): FastifyReply {
  // Each stream listens to it, and Node.js would take more than ten listeners for a leak.
  setMaxListeners(0, closing);
  closing.addEventListener("abort", bell.ring);
  const stream = Readable.from(pieces);
  // This is not done in the generator: one that was never begun has no `finally`.
  const end = () => {
    unwatch();
    bell.end();
    closing.removeEventListener("abort", bell.ring);
  };
  stream.once("close", end);
  // The stream closes only once the generator has given its next piece: a quiet one would keep the places of a client that went for many seconds.
  finished(reply.raw, end);
  return reply.type("text/event-stream").headers(streamHeaders).send(stream);
}

export function serverSentEvent(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
