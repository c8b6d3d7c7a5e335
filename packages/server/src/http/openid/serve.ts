import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { onlyClientOrigins } from "../../auth/oidc/client-origins.ts";
import { clientOrigins, clientsOf } from "../../auth/oidc/clients.ts";
import { OpenIdProvider } from "../../auth/oidc/provider.ts";
import type { App, ServerParts } from "../door/app.ts";
import { sendError } from "../door/errors.ts";
import { pathOf } from "../door/logged-path.ts";
import { measure } from "../door/operation.ts";
import { describeRequest } from "../door/request-log.ts";
import type { RequestMetrics } from "../door/request-metrics.ts";
import { boundBegunSignIns } from "./begun-sign-ins.ts";
import { consentPage } from "./consent-page.ts";
import { deviceCodePage } from "./device-code-page.ts";
import { externalSignIn } from "./external-sign-in.ts";
import { oneSpelling } from "./guarded-endpoints.ts";
import { protocolHeaders } from "./protocol-headers.ts";
import { providerPages } from "./provider-pages.ts";
import { signInByLink } from "./sign-in-by-link.ts";
import { signInPage } from "./sign-in-page.ts";
import { tokenRequests } from "./token-requests.ts";

/** Web pages of all origins may read these documents, because they are public. */
const publicPaths: ReadonlySet<string> = new Set(["/.well-known/openid-configuration", "/jwks"]);

interface Observers {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
}

/**
 * Serves `/oidc`: the endpoints of OpenID Connect, and the pages to sign in. They belong to a protocol and are not operations of the API. They are
 * not routes of the framework either, so its parsing of bodies and its declarations do not apply. `docs/api.md` describes the endpoints and
 * the pages.
 */
export function serveOpenId(app: App, parts: ServerParts, { logger, metrics }: Observers): void {
  const { engine, config, secrets, openId, authenticator, basePath, publicUrl, closing } = parts;
  const mount = `${basePath}/oidc`;
  const look = {
    isSecure: () => publicUrl().startsWith("https:"),
    homeUrl: () => `${publicUrl()}/`,
    formTargets: () => clientOrigins(clientsOf(publicUrl(), config.dashboardRedirectUris)),
  };
  const provider = new OpenIdProvider({
    ...openId,
    config,
    secrets,
    now: () => engine.now(),
    publicUrl,
    pages: providerPages(look),
    middlewares: (built) => [
      protocolHeaders(look),
      onlyClientOrigins(isClientOrigin, publicPaths),
      oneSpelling,
      boundBegunSignIns(() => engine.now(), look),
      tokenRequests(built, openId.ledger, look),
      deviceCodePage(built, parts, look),
      consentPage(built, parts, look),
      signInByLink(built, parts, look),
      externalSignIn(built, parts, look),
      signInPage(built, parts, look),
    ],
    onSessionsEnded: (userId) => authenticator.forgetUser(userId),
    onFailure: (error, ctx) =>
      logger.error({ err: error, path: ctx?.path, method: ctx?.method }, "a sign-in failed for an unexpected reason"),
  });
  function isClientOrigin(origin: string, network: string): boolean | Promise<boolean> {
    return look.formTargets().includes(origin) || openId.clientOrigins.has(origin, network);
  }

  const measured = measure("OpenIdConnect", metrics);

  app.addHook("onRequest", (request, reply, done) => {
    const url = request.raw.url ?? "";
    if (!url.startsWith(`${mount}/`)) return done();
    measured.call(app, request, reply, () => {});
    serve(request, reply).catch((error: unknown) => {
      if (sendError(reply, error) === "UnhandledError") {
        // The query is left out, since it may hold an id token.
        logger.error({ err: error, ...describeRequest(request), path: pathOf(url) }, "the sign-in could not be served");
      }
    });
  });

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const handle = await provider.handler();
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    if (closing.aborted) reply.raw.setHeader("connection", "close");
    const raw = Object.assign(request.raw, { baseUrl: mount });
    raw.url = (raw.url ?? "").slice(mount.length);
    await handle(raw, reply.raw, request.ip);
  }
}
