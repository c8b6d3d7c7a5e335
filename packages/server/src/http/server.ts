import { randomUUID } from "node:crypto";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Caller } from "../auth/authenticator.ts";
import { networkOf } from "../auth/network.ts";
import type { PermissionSet } from "../auth/permissions.ts";
import { Refusals } from "../auth/refusals.ts";
import type { Config } from "../config.ts";
import { accountRoutes } from "./account.ts";
import { accountPasswordRoutes } from "./account-password.ts";
import { accountSecondFactorRoutes } from "./account-second-factor.ts";
import { accountTokenRoutes } from "./account-tokens.ts";
import { aliasApiTokens } from "./api-token-alias.ts";
import { apiTokenRoutes } from "./api-tokens.ts";
import type { App, ServerParts } from "./app.ts";
import { auditRoutes } from "./audit.ts";
import { AuditDenials } from "./audit-denials.ts";
import { auditExportRoutes } from "./audit-export.ts";
import { addressOf } from "./client-address.ts";
import { allowOrigins } from "./cors.ts";
import { dashboardRoutes } from "./dashboard.ts";
import { answerBrokenRequest, sendError, sendNoSuchOperation } from "./errors.ts";
import { healthRoutes } from "./health.ts";
import { invitationRoutes } from "./invitations.ts";
import { jobEventRoutes } from "./job-events.ts";
import { jobExplanationRoutes } from "./job-explanation.ts";
import { jobHistoryRoutes } from "./job-history.ts";
import { jobListRoutes } from "./job-lists.ts";
import { jobStateRoutes } from "./job-state.ts";
import { jobStreamRoutes } from "./job-stream.ts";
import { jobRoutes } from "./jobs.ts";
import { parseJsonBodies } from "./json-body.ts";
import { KnownPaths } from "./known-paths.ts";
import { loggedPath } from "./logged-path.ts";
import { memberPasswordLinkRoutes } from "./member-password-link.ts";
import { memberRoutes } from "./members.ts";
import { metricRoutes } from "./metrics.ts";
import { collectDeclarations, openapiRoute } from "./openapi.ts";
import { serveOpenId } from "./openid/serve.ts";
import { completeOperations, type RequestMetrics } from "./operation.ts";
import { organizationRoutes } from "./organizations.ts";
import { ownPermissionRoutes } from "./own-permissions.ts";
import { invitationPage } from "./pages/invitation.ts";
import { setPasswordRoutes } from "./pages/set-password.ts";
import { signInLinkRoutes } from "./pages/sign-in-link.ts";
import { rateLimitRoutes } from "./rate-limits.ts";
import { roleRoutes } from "./roles.ts";
import { sessionRoutes } from "./sessions.ts";
import { signInProviderRoutes } from "./sign-in-providers.ts";
import { tagRoutes } from "./tags.ts";
import { tokenRotationRoutes } from "./token-rotation.ts";
import { boundUnreadAnswers } from "./unread-answers.ts";
import { UserNames } from "./user-names.ts";
import { createValidatorCompiler } from "./validation.ts";
import { versionRoutes } from "./versions.ts";
import { whoAmIRoutes } from "./who-am-i.ts";
import { workflowRoutes } from "./workflows.ts";

export interface ServerOptions extends Omit<ServerParts, "basePath" | "publicUrl" | "closing" | "userNames"> {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
}

const resources = [
  organizationRoutes,
  workflowRoutes,
  versionRoutes,
  tagRoutes,
  jobRoutes,
  jobListRoutes,
  jobHistoryRoutes,
  jobExplanationRoutes,
  jobStateRoutes,
  jobStreamRoutes,
  jobEventRoutes,
  metricRoutes,
  rateLimitRoutes,
  apiTokenRoutes,
  auditRoutes,
  auditExportRoutes,
  accountRoutes,
  accountPasswordRoutes,
  accountSecondFactorRoutes,
  accountTokenRoutes,
  tokenRotationRoutes,
  whoAmIRoutes,
  memberRoutes,
  memberPasswordLinkRoutes,
  roleRoutes,
  invitationRoutes,
  signInProviderRoutes,
  sessionRoutes,
  invitationPage,
  ownPermissionRoutes,
  setPasswordRoutes,
  signInLinkRoutes,
  healthRoutes,
  openapiRoute,
  dashboardRoutes,
];

/** The HTTP API, ready to listen. Starting it fails when a route does not declare its permission. */
export function createServer(options: ServerOptions): App {
  const { config, database, engine, authenticator, rateLimits, metrics, logger } = options;
  const app = createApp(config);
  const basePath = (config.baseUrl?.pathname ?? "").replace(/\/+$/, "");
  const publicUrl = () => publicUrlOf(config, app);
  const userNames = new UserNames(database);
  const parts: ServerParts = { ...options, basePath, publicUrl, userNames, closing: closingSignal(app) };

  app.decorate("engine", options.engine);
  app.setValidatorCompiler(createValidatorCompiler());
  // The schemas of answers serve the document; what is sent is held against them by the tests, not once per request.
  app.setSerializerCompiler(() => JSON.stringify);
  parseJsonBodies(app, config.maxJsonDepth);
  app.addHook("onRequest", (request, reply, done) => {
    setCommonHeaders(request, reply);
    done();
  });
  allowOrigins(app, config.corsOrigins);
  boundUnreadAnswers(app, config);
  const refusals = new Refusals(config.maxRefusalsPerMinute, () => engine.now());
  serveOpenId(app, parts, options);
  answerErrors(app, { logger, refusals, denials: new AuditDenials(database, logger), metrics });
  collectDeclarations(app, basePath, publicUrl);
  completeOperations(app, { authenticator, database, refusals, rateLimits, metrics });
  void app.register(
    async (scope) => {
      aliasApiTokens(scope);
      for (const resource of resources) resource(scope, parts);
    },
    { prefix: basePath },
  );
  return app;
}

function createApp(config: Config): App {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: config.maxBodyBytes,
    requestTimeout: config.requestTimeoutMs,
    trustProxy: config.trustedProxies.length > 0 && [...config.trustedProxies],
    exposeHeadRoutes: false,
    // A request that comes on an open connection while the server closes is still served, and is its last.
    return503OnClosing: false,
    routerOptions: { maxParamLength: maxUrlLength },
    http: {
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: config.requestTimeoutMs,
      // How often the two are looked at; the default of 30 s would make them at least that long.
      connectionsCheckingInterval: Math.min(1_000, config.headersTimeoutMs),
    },
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      sendError(reply, error);
    },
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.server.maxConnections = config.maxConnections;
  app.decorateRequest("caller", null as unknown as Caller);
  app.decorateRequest("granted", null as unknown as PermissionSet);
  app.decorateRequest("bodyHash", null);
  app.decorateRequest("bodyBytes", 0);
  app.decorateRequest("isReplayed", false);
  return app as App;
}

/** Where clients reach the service, without a slash at the end. */
export function publicUrlOf(config: Config, app: App): string {
  return config.baseUrl?.href.replace(/\/+$/, "") ?? localUrl(app);
}

function localUrl(app: App): string {
  const address = app.server.address();
  return `http://localhost:${typeof address === "object" ? (address?.port ?? 0) : 0}`;
}

/** Longer than any URL that Node takes, so that a long id is just an unknown one. */
const maxUrlLength = 64 * 1024;

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id);
  reply.header("x-content-type-options", "nosniff");
  reply.header("cache-control", "no-store");
}

/** Aborts when the server begins to close. From then on each answer is its connection's last: a busy one would stay open for ever. */
function closingSignal(app: App): AbortSignal {
  const closing = new AbortController();
  app.addHook("preClose", (done) => {
    closing.abort();
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (closing.signal.aborted) reply.header("connection", "close");
    done(null, payload);
  });
  return closing.signal;
}

interface ErrorParts {
  readonly logger: Logger;
  readonly refusals: Refusals;
  readonly denials: AuditDenials;
  readonly metrics: RequestMetrics;
}

function answerErrors(app: App, { logger, refusals, denials, metrics }: ErrorParts): void {
  const paths = new KnownPaths();
  app.addHook("onRoute", ({ url, method }) => paths.add(url, method));
  app.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?");
    sendNoSuchOperation(reply, paths.methodsOf(path));
  });
  app.setErrorHandler((error, request, reply) => {
    const answer = () => {
      const code = sendError(reply, error);
      const { caller, granted } = request;
      if (code === "AuthenticationError") refusals.note(networkOf(addressOf(request)));
      // Known, but not let in.
      else if (caller !== null && granted === null) refusals.note(caller.principal.id);
      if (code === "RateLimitError" && granted === null) metrics.requestLimited("door", "refusals");
      if (code !== "UnhandledError") return;
      const { id: requestId, method } = request;
      logger.error(
        { err: error, requestId, method, path: loggedPath(request) },
        "a request failed for a reason that nobody expected",
      );
    };
    const recorded = denials.record(error, request);
    if (recorded === undefined) answer();
    else void recorded.then(answer);
  });
}
