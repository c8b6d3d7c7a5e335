import type { App } from "./app.ts";

/** Lets the pages of the listed origins call the API. Without any listed, no page of another origin can. */
export function allowOrigins(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    reply.header("vary", "Origin");
    if (origin === undefined || !allowed.has(origin)) return done();
    reply.header("access-control-allow-origin", origin);
    reply.header("access-control-expose-headers", exposedHeaders);
    if (request.method !== "OPTIONS") return done();
    reply.header("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
    // Generated clients send headers of their own. A listed origin may send credentials already, so no other header gives it more.
    const asked = request.headers["access-control-request-headers"];
    if (asked !== undefined) reply.header("access-control-allow-headers", asked);
    reply.header("vary", "Origin, Access-Control-Request-Headers");
    reply.header("access-control-max-age", "600");
    void reply.code(204).send();
  });
}

const exposedHeaders =
  "location, retry-after, ratelimit, ratelimit-policy, idempotency-replayed, x-request-id, x-amzn-requestid, x-amzn-errortype";
