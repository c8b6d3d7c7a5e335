import type { FastifyReply, FastifyRequest } from "fastify";
import { networkOf } from "../../../auth/credentials/network.ts";
import type { App } from "../app.ts";
import { addressOf } from "../client-address.ts";

export interface AllowedOrigins {
  /** The origins that the operator has listed. */
  readonly listed: readonly string[];
  /** Tells whether an organization has an OAuth client whose pages have this origin. `network` is the network of the caller (`networkOf`). */
  readonly ofClients: (origin: string, network: string) => boolean | Promise<boolean>;
  /** The service's own origin, whose pages need no permission. */
  readonly own: () => string;
  /** The path of the OpenID provider. The provider checks origins itself, since it knows the OAuth client of each request. */
  readonly provider: string;
}

/** Lets pages of the listed origins and of organizations' OAuth clients call the API. Of all other pages, only the service's own can do so. */
export function allowOrigins(app: App, { listed, ofClients, own, provider }: AllowedOrigins): void {
  const allowed = new Set(listed);
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    reply.header("vary", "Origin");
    const answer = (isAllowed: boolean) => {
      if (!isAllowed || origin === undefined || !allow(request, reply, origin)) done();
    };
    if (origin === undefined || allowed.has(origin)) return answer(origin !== undefined);
    if (request.url.startsWith(`${provider}/`) || origin === own()) return answer(false);
    const isOfClient = ofClients(origin, networkOf(addressOf(request)));
    if (!(isOfClient instanceof Promise)) return answer(isOfClient);
    // While the store cannot be reached, an origin counts as unknown. The request itself is answered as usual.
    void isOfClient.catch(() => false).then(answer);
  });
}

/** Returns true for a preflight request, which is answered here. */
function allow(request: FastifyRequest, reply: FastifyReply, origin: string): boolean {
  reply.header("access-control-allow-origin", origin);
  reply.header("access-control-expose-headers", exposedHeaders);
  if (request.method !== "OPTIONS") return false;
  reply.header("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
  // Generated clients send headers of their own. An allowed origin may already send credentials, so allowing other headers gives it nothing more.
  const asked = request.headers["access-control-request-headers"];
  if (asked !== undefined) reply.header("access-control-allow-headers", asked);
  reply.header("vary", "Origin, Access-Control-Request-Headers");
  reply.header("access-control-max-age", "600");
  void reply.code(204).send();
  return true;
}

const exposedHeaders =
  "location, etag, retry-after, ratelimit, ratelimit-policy, idempotency-replayed, x-request-id, traceresponse, x-amzn-requestid, x-amzn-errortype";
