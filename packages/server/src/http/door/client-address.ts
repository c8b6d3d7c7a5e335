import type { FastifyRequest } from "fastify";
import type { RequestSource } from "../../auth/request-source.ts";

/** The network address of the client; "" for a client that is gone by now, whose address is not known any more. */
export function addressOf({ ip }: Pick<FastifyRequest, "ip">): string {
  return (ip as string | undefined) ?? "";
}

/** The request as the audit trail names it. */
export function sourceOf(request: FastifyRequest): RequestSource {
  return { requestId: request.id, address: addressOf(request) };
}
