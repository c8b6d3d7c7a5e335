import type { FastifySchema, onRequestHookHandler, RouteOptions } from "fastify";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { FailedAccessLimit } from "../../auth/limits/failed-access.ts";
import type { RateLimits } from "../../auth/limits/rate-limits.ts";
import type { DeclaredPermission } from "../../auth/permissions/permissions.ts";
import type { Database } from "../../store/home/database.ts";
import type { App } from "./app.ts";
import { authorization } from "./authorization.ts";
import { enforceBounds } from "./bounds-check.ts";
import { type AnswerCode, errorKinds } from "./errors.ts";
import { markReplayed } from "./idempotency.ts";
import { rejectPrecondition } from "./precondition.ts";
import { limitRate } from "./rate-limit.ts";
import { rejectKey } from "./request-key.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import { closed, ProblemSchema } from "./schemas.ts";

/** The parts of the service with which requests are checked and measured. */
export interface Door {
  readonly authenticator: Authenticator;
  readonly database: Database;
  readonly failedAccess: FailedAccessLimit;
  readonly rateLimits: RateLimits;
  readonly metrics: RequestMetrics;
}

/**
 * Makes the declaration of each route the only source of its authorization, its errors in the document and its name in the metrics. The service does
 * not start with a route that does not declare its permission, or with a POST that neither takes an Idempotency-Key nor declares its repetition.
 */
export function completeOperations(app: App, door: Door): void {
  app.addHook("onRoute", (route) => {
    const { schema } = route;
    const permission = schema?.["x-permission"];
    if (schema?.operationId === undefined || permission === undefined || schema.tags === undefined) {
      throw new Error(`The route ${route.method} ${route.url} must declare operationId, tags and x-permission.`);
    }
    requireRepetition(route);
    if (permission !== "none") schema["x-cost"] = costOf(route);
    if (permission !== "none") schema.querystring ??= noQuery;
    schema.security = permission === "none" ? [] : [{ bearerToken: [] }];
    schema.response = { ...(schema.response as object), ...errorAnswers(errorsOf(route, permission)) };
    const bounds = enforceBounds(route.config?.bounds, door.database);
    if (takesIdempotencyKey(schema.headers) || route.config?.repetition === "replayed") {
      route.onSend = markReplayed;
      schema["x-replayable"] = true;
    }
    route.onRequest = [measure(schema.operationId, door.metrics), ...gates(schema, permission, door, bounds)];
  });
}

/** An operation that needs a credential and declares no query parameters rejects all query parameters, so that a typo is not ignored. */
const noQuery = closed({});

/** Hidden routes need no declaration: they take the forms of pages, and browsers repeat nothing by themselves. */
function requireRepetition({ method, url, schema, config }: RouteOptions): void {
  if (method !== "POST" || schema?.hide === true) return;
  if (takesIdempotencyKey(schema?.headers) === (config?.repetition !== undefined)) {
    throw new Error(`The route POST ${url} must either take IdempotencyHeaders or declare its repetition.`);
  }
}

/** Measures a request, even if the client disconnects before it has its answer. Such a request has the status 499, as in nginx. */
export function measure(operationId: string, metrics: RequestMetrics): onRequestHookHandler {
  return (_request, reply, done) => {
    const startedAt = performance.now();
    metrics.requestStarted();
    reply.raw.once("close", () => {
      const status = reply.raw.writableFinished ? reply.raw.statusCode : 499;
      metrics.requestFinished(operationId, status, performance.now() - startedAt);
    });
    done();
  };
}

/**
 * Returns how many cheap reads a request counts as. A route may declare its own cost. Otherwise a read costs one, and a change costs five, since it
 * usually is a transaction with an audit entry.
 */
function costOf({ method, config }: RouteOptions): number {
  return config?.cost ?? (method === "GET" || method === "HEAD" || method === "QUERY" ? 1 : 5);
}

/** The operations to which the limit of submits per minute applies too. */
const submits: ReadonlySet<string> = new Set(["SubmitJob", "SubmitTask"]);

function gates(
  schema: FastifySchema,
  permission: DeclaredPermission,
  door: Door,
  bounds: onRequestHookHandler,
): onRequestHookHandler[] {
  if (permission === "none") return [];
  const authorize = authorization(permission, door.authenticator, door.failedAccess);
  const limit = limitRate(
    { isSubmit: submits.has(schema.operationId ?? ""), cost: schema["x-cost"] ?? 1 },
    door.rateLimits,
    door.metrics,
  );
  const rejectHeader = rejectPrecondition(declaredHeaders(schema.headers));
  return [
    authorize,
    limit,
    bounds,
    ...(takesIdempotencyKey(schema.headers) ? [] : [rejectKey]),
    ...(rejectHeader === undefined ? [] : [rejectHeader]),
  ];
}

/** Returns the possible errors: those that follow from the declaration, and those that the operation names itself. */
function errorsOf({ schema, url, config }: RouteOptions, permission: DeclaredPermission): AnswerCode[] {
  const codes = new Set<AnswerCode>(["UnhandledError", ...(config?.errors ?? [])]);
  if (permission !== "none") {
    codes.add("AuthenticationError").add("AuthorizationError").add("RateLimitError").add("UnavailableError");
  }
  if (url.includes(":organizationId")) codes.add("NotFoundError");
  if (schema?.querystring !== undefined || schema?.headers !== undefined || url.includes(":tag"))
    codes.add("ValidationError");
  if (takesIdempotencyKey(schema?.headers) || config?.repetition === "renewed") codes.add("ConflictError");
  if ("If-Match" in declaredHeaders(schema?.headers)) codes.add("PreconditionFailedError");
  if (schema?.body !== undefined) {
    codes.add("ValidationError").add("PayloadTooLargeError").add("UnsupportedMediaTypeError");
  }
  return [...codes];
}

function takesIdempotencyKey(headers: unknown): boolean {
  return "Idempotency-Key" in declaredHeaders(headers);
}

function declaredHeaders(headers: unknown): object {
  return (headers as { readonly properties?: object } | undefined)?.properties ?? {};
}

function errorAnswers(codes: readonly AnswerCode[]): Record<number, object> {
  return Object.fromEntries(
    codes.map((code) => {
      const { status, meaning } = errorKinds[code];
      return [status, { description: meaning, content: { "application/problem+json": { schema: ProblemSchema } } }];
    }),
  );
}
