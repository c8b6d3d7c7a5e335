import type { FastifyRequest } from "fastify";

/** Where a request came from. Of a client that is gone by now the address is not known any more: "". */
export function addressOf({ ip }: Pick<FastifyRequest, "ip">): string {
  return (ip as string | undefined) ?? "";
}
