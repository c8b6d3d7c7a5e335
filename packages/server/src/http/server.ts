import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Caller } from "../auth/caller.ts";
import { networkOf } from "../auth/credentials/network.ts";
import { FailedAccessLimit } from "../auth/limits/failed-access.ts";
import type { PermissionSet } from "../auth/permissions/permissions.ts";
import type { Config } from "../config.ts";
import { ServiceError } from "../core/service-error.ts";
import { accountRoutes } from "./account/account.ts";
import { accountLimitRoutes } from "./account/account-limits.ts";
import { accountPasswordRoutes } from "./account/account-password.ts";
import { accountSecondFactorRoutes } from "./account/account-second-factor.ts";
import { accountTokenRoutes } from "./account/account-tokens.ts";
import { ownPermissionRoutes } from "./account/own-permissions.ts";
import { sessionRoutes } from "./account/sessions.ts";
import { whoAmIRoutes } from "./account/who-am-i.ts";
import { auditRoutes } from "./audit/audit.ts";
import { auditExportRoutes } from "./audit/audit-export.ts";
import { dashboardRoutes, withoutMalformedPage } from "./dashboard/dashboard.ts";
import { docsRoutes } from "./docs/docs.ts";
import { collectDeclarations, openapiRoute } from "./document/openapi.ts";
import { AnswerRoom } from "./door/answer-room.ts";
import { answerHeaders } from "./door/answers/answer-headers.ts";
import { compressAnswers } from "./door/answers/compression.ts";
import { allowOrigins } from "./door/answers/cors.ts";
import { boundUnreadAnswers } from "./door/answers/unread-answers.ts";
import type { App, ServerParts } from "./door/app.ts";
import { AuditDenials } from "./door/audit-denials.ts";
import { addressOf } from "./door/client-address.ts";
import {
  answerBrokenRequest,
  answerExpectation,
  maxHeaderBytes,
  sendError,
  sendNoSuchOperation,
} from "./door/errors.ts";
import { parseJsonBodies } from "./door/json-body.ts";
import { KnownPaths } from "./door/known-paths.ts";
import { pathOf } from "./door/logged-path.ts";
import { completeOperations } from "./door/operation.ts";
import { announceMaximums } from "./door/rate-limit.ts";
import { describeRequest, logRequests } from "./door/request-log.ts";
import type { RequestMetrics } from "./door/request-metrics.ts";
import { UserNames } from "./door/user-names.ts";
import { createValidatorCompiler } from "./door/validation.ts";
import { jobBranchRoutes } from "./jobs/job-branches.ts";
import { jobEventRoutes } from "./jobs/job-events.ts";
import { jobExplanationRoutes } from "./jobs/job-explanation.ts";
import { jobHistoryRoutes } from "./jobs/job-history.ts";
import { jobListRoutes } from "./jobs/job-lists.ts";
import { jobStateRoutes } from "./jobs/job-state.ts";
import { jobStepRoutes } from "./jobs/job-steps.ts";
import { jobStreamRoutes } from "./jobs/job-stream.ts";
import { jobRoutes } from "./jobs/jobs.ts";
import { manyJobsStreamRoutes } from "./jobs/many-jobs-stream.ts";
import { serveOpenId } from "./openid/serve.ts";
import { healthRoutes } from "./operations/health.ts";
import { metricRoutes } from "./operations/metrics.ts";
import { invitationRoutes } from "./organizations/invitations.ts";
import { limitRoutes } from "./organizations/limits.ts";
import { memberPasswordLinkRoutes } from "./organizations/member-password-link.ts";
import { memberRoutes } from "./organizations/members.ts";
import { oauthClientRoutes } from "./organizations/oauth-clients.ts";
import { organizationRoutes } from "./organizations/organizations.ts";
import { rateLimitRoutes } from "./organizations/rate-limits.ts";
import { roleRoutes } from "./organizations/roles.ts";
import { signInProviderRoutes } from "./organizations/sign-in-providers.ts";
import { invitationPage } from "./pages/invitation.ts";
import { setPasswordRoutes } from "./pages/set-password.ts";
import { signInLinkRoutes } from "./pages/sign-in-link.ts";
import { queuedTaskRoutes } from "./tasks/queued-tasks.ts";
import { submitTaskRoute } from "./tasks/submit-task.ts";
import { taskPollRoutes } from "./tasks/task-polls.ts";
import { taskQueueRoutes } from "./tasks/task-queues.ts";
import { taskRoutes } from "./tasks/tasks.ts";
import { aliasApiTokens } from "./tokens/api-token-alias.ts";
import { apiTokenRoutes } from "./tokens/api-tokens.ts";
import { tokenRotationRoutes } from "./tokens/token-rotation.ts";
import { executorRoutes } from "./workflows/executors.ts";
import { expressionFunctionRoutes } from "./workflows/expression-functions.ts";
import { tagRoutes } from "./workflows/tags.ts";
import { versionRoutes } from "./workflows/versions.ts";
import { workflowRoutes } from "./workflows/workflows.ts";

export interface ServerOptions
  extends Omit<ServerParts, "basePath" | "publicUrl" | "closing" | "userNames" | "failedAccess" | "answerRoom"> {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
}

const resources = [
  organizationRoutes,
  workflowRoutes,
  executorRoutes,
  expressionFunctionRoutes,
  versionRoutes,
  tagRoutes,
  jobRoutes,
  jobListRoutes,
  jobHistoryRoutes,
  jobStepRoutes,
  jobBranchRoutes,
  jobExplanationRoutes,
  jobStateRoutes,
  jobStreamRoutes,
  manyJobsStreamRoutes,
  jobEventRoutes,
  submitTaskRoute,
  taskPollRoutes,
  taskRoutes,
  taskQueueRoutes,
  queuedTaskRoutes,
  metricRoutes,
  rateLimitRoutes,
  limitRoutes,
  apiTokenRoutes,
  auditRoutes,
  auditExportRoutes,
  accountRoutes,
  accountLimitRoutes,
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
  oauthClientRoutes,
  sessionRoutes,
  invitationPage,
  ownPermissionRoutes,
  setPasswordRoutes,
  signInLinkRoutes,
  healthRoutes,
  openapiRoute,
  dashboardRoutes,
  docsRoutes,
];

/** Makes the HTTP API. Its `ready` and `listen` fail when a route does not declare its permission. */
export function createServer(options: ServerOptions): App {
  const { config, database, engine, authenticator, rateLimits, metrics, logger } = options;
  const headers = answerHeaders(config);
  const basePath = (config.baseUrl?.pathname ?? "").replace(/\/+$/, "");
  const app = createApp(config, basePath, headers);
  const publicUrl = () => publicUrlOf(config, app);
  const userNames = new UserNames(database);
  const failedAccess = new FailedAccessLimit(config.maxRefusalsPerMinute, () => engine.now());
  const answerRoom = new AnswerRoom(config);
  const derived = { basePath, publicUrl, userNames, failedAccess, closing: closingSignal(app), answerRoom };
  const parts: ServerParts = { ...options, ...derived };

  app.decorate("engine", options.engine);
  app.setValidatorCompiler(createValidatorCompiler());
  // The schemas of answers are for the document and the tests. The service sends an answer as it is, and does not check it.
  app.setSerializerCompiler(() => JSON.stringify);
  parseJsonBodies(app, config.maxJsonDepth);
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(headers).header("x-request-id", request.id);
    done(hostProblem(request.raw));
  });
  logRequests(app, logger);
  allowOrigins(app, {
    listed: config.corsOrigins,
    ofClients: (origin, network) => options.openId.clientOrigins.has(origin, network),
    own: () => new URL(publicUrl()).origin,
    provider: `${basePath}/oidc`,
  });
  boundUnreadAnswers(app, answerRoom, config);
  compressAnswers(app);
  leaveBodiesOutOfHead(app);
  app.addHook("onSend", announceMaximums);
  serveOpenId(app, parts, options);
  answerErrors(app, { logger, failedAccess, denials: new AuditDenials(database, logger), metrics });
  collectDeclarations(app, basePath, publicUrl);
  completeOperations(app, { authenticator, database, failedAccess, rateLimits, metrics });
  void app.register(
    async (scope) => {
      aliasApiTokens(scope);
      for (const resource of resources) resource(scope, parts);
    },
    { prefix: basePath },
  );
  return app;
}

function createApp(config: Config, basePath: string, headers: Readonly<Record<string, string>>): App {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: config.maxBodyBytes,
    requestTimeout: config.requestTimeoutMs,
    trustProxy: config.trustedProxies.length > 0 && [...config.trustedProxies],
    exposeHeadRoutes: true,
    rewriteUrl: ({ url = "/" }) => withoutMalformedPage(url, basePath),
    // While the server closes, a request on an open connection is still served, as the last one of that connection.
    return503OnClosing: false,
    routerOptions: { maxParamLength: maxUrlLength },
    http: {
      // Node.js itself would reject a request without Host, and give no reason.
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: config.requestTimeoutMs,
      // The timeouts are checked this often. With the default of 30 s, a timeout could be late by up to 30 s.
      connectionsCheckingInterval: Math.min(1_000, config.headersTimeoutMs),
    },
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header("x-request-id", request.id);
      sendError(reply, error);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, headers),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.server.on("checkExpectation", (_request, response) => answerExpectation(response, headers));
  app.server.maxConnections = config.maxConnections;
  app.decorateRequest("caller", null as unknown as Caller);
  app.decorateRequest("granted", null as unknown as PermissionSet);
  app.decorateRequest("bodyHash", null);
  app.decorateRequest("bodyBytes", 0);
  app.decorateRequest("usedMaximums", null);
  app.decorateRequest("isReplayed", false);
  app.decorateRequest("trace", null);
  return app as App;
}

/** Returns the address at which clients reach the service, without a slash at the end. */
export function publicUrlOf(config: Config, app: App): string {
  return config.baseUrl?.href.replace(/\/+$/, "") ?? localUrl(app);
}

function localUrl(app: App): string {
  const address = app.server.address();
  return `http://localhost:${typeof address === "object" ? (address?.port ?? 0) : 0}`;
}

/** Node.js accepts no URL of this length, so no id reaches this limit of the router, and a very long id is answered like any unknown id. */
const maxUrlLength = 64 * 1024;

/**
 * Returns an error for a request without exactly one Host header; a request of HTTP/1.0, which had no such header, may leave it out. Node.js takes
 * the first of two Host headers, and a proxy may take the last one, but a request must mean the same to both.
 */
function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): ServiceError | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  if (count === 1 || (count === 0 && httpVersion === "1.0")) return undefined;
  const found = count === 0 ? "no Host header" : "more than one Host header";
  return new ServiceError("ValidationError", `The request has ${found}. Send one.`);
}

/**
 * Destroys the stream of an answer to a HEAD request without reading it. The framework runs the handler of the GET for such a request, so that the
 * headers are the same.
 */
function leaveBodiesOutOfHead(app: App): void {
  app.addHook("onRoute", (route) => {
    // The framework's own hook would read streams to their end, and a stream that watches a job lasts until the job is finished.
    if (route.method === "HEAD") route.onSend = [];
  });
  app.addHook("onSend", (request, _reply, payload, done) => {
    if (request.method !== "HEAD" || !(payload instanceof Readable)) return done(null, payload);
    payload.destroy();
    done(null, null);
  });
}

/**
 * Returns a signal that aborts when the server begins to close. From then on, each answer is the last one of its connection. Otherwise a busy
 * connection would stay open for ever.
 */
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
  readonly failedAccess: FailedAccessLimit;
  readonly denials: AuditDenials;
  readonly metrics: RequestMetrics;
}

function answerErrors(app: App, { logger, failedAccess, denials, metrics }: ErrorParts): void {
  const paths = new KnownPaths();
  app.addHook("onRoute", ({ url, method }) => paths.add(url, method));
  const answerUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const methods = paths.methodsOf(pathOf(request.url));
    if (methods.length > 0 && asksForMethods(request)) void reply.code(204).header("allow", methods.join(", ")).send();
    else sendNoSuchOperation(reply, methods);
  };
  app.setNotFoundHandler(answerUnknown);
  app.setErrorHandler((error, request, reply) => {
    // A request that fits no operation may have other faults as well, such as the missing Content-Type of a QUERY. They are not reported.
    if (request.is404) {
      answerUnknown(request, reply);
      return;
    }
    const answer = () => {
      const code = sendError(reply, error);
      const { caller, granted } = request;
      if (code === "AuthenticationError") failedAccess.note(networkOf(addressOf(request)));
      // The caller has a valid credential, but was not authorized.
      else if (caller !== null && granted === null) failedAccess.note(caller.principal.id);
      if (code === "RateLimitError" && granted === null) metrics.requestLimited("door", "refusals");
      if (code !== "UnhandledError") return;
      logger.error({ err: error, ...describeRequest(request) }, "a request failed for an unexpected reason");
    };
    const recorded = denials.record(error, request);
    if (recorded === undefined) answer();
    else void recorded.then(answer);
  });
}

/**
 * Tells whether a request is a plain OPTIONS request and not a preflight request. A preflight request from an origin that is not allowed gets 405,
 * because a `204` could be taken for a permission.
 */
function asksForMethods({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] === undefined;
}
