import type { FastifyRequest } from "fastify";
import type { RequestSource } from "../../auth/request-source.ts";

/** Returns the network address of the client; "" for a client that has disconnected, whose address is no longer known. */
export function addressOf({ ip }: Pick<FastifyRequest, "ip">): string {
  return (ip as string | undefined) ?? "";
}

export function sourceOf(request: FastifyRequest): RequestSource {
  return { requestId: request.id, address: addressOf(request) };
}
