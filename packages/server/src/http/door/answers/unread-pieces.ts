import type { FastifyReply } from "fastify";
import type { ServerParts } from "../app.ts";

/** If a client takes longer than this for a piece, its answer counts as unread. */
const slowMs = 1_000;
/**
 * The room, in characters, that an answer takes while its client reads slowly. About as much is in memory: the latest part that was read from the
 * store, and what the connection has not sent yet.
 */
const keptSize = 2_000_000;

/**
 * Passes on the pieces of an answer as the client reads them. What the client does not read stays in memory, so the answers of slow clients count
 * among the large unread answers. A slow client is disconnected if there is no room for its answer, or if it reads nothing for `requestTimeoutMs`.
 * A client that is not reading when the server begins to close is disconnected too, because the server would wait for it.
 */
export async function* whileRead(
  pieces: AsyncIterable<string>,
  { raw }: FastifyReply,
  organizationId: string,
  { closing, config, answerRoom }: Pick<ServerParts, "closing" | "config" | "answerRoom">,
): AsyncGenerator<string> {
  const disconnect = () => void raw.destroy();
  for await (const piece of pieces) {
    let free: (() => void) | undefined;
    const slow = setTimeout(() => {
      free = answerRoom.take(organizationId, keptSize);
      if (free === undefined) disconnect();
    }, slowMs);
    const silent = setTimeout(disconnect, closing.aborted ? slowMs : config.requestTimeoutMs);
    closing.addEventListener("abort", disconnect);
    try {
      yield piece;
    } finally {
      clearTimeout(slow);
      clearTimeout(silent);
      closing.removeEventListener("abort", disconnect);
      free?.();
    }
  }
}
