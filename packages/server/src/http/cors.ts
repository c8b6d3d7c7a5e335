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
    reply.header("access-control-allow-headers", "authorization, content-type, idempotency-key, last-event-id");
    reply.header("access-control-max-age", "600");
    void reply.code(204).send();
  });
}

const exposedHeaders = "location, retry-after, ratelimit, ratelimit-policy, x-request-id, x-amzn-errortype";
