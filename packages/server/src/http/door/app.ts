import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import type { SingleSignOn } from "../../auth/external/single-sign-on.ts";
import type { FailedAccessLimit } from "../../auth/limits/failed-access.ts";
import type { RateLimits } from "../../auth/limits/rate-limits.ts";
import type { OpenId } from "../../auth/oidc/open-id.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import type { DeclaredPermission, PermissionSet } from "../../auth/permissions/permissions.ts";
import type { Config } from "../../config.ts";
import type { ServiceErrorCode } from "../../core/service-error.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Executor } from "../../engine/executors/executor.ts";
import type { DefinitionChecks } from "../../engine/plans/definition-checks.ts";
import type { Plans } from "../../engine/plans/plans.ts";
import type { UsedMaximum } from "../../management/act/act.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import type { AnswerRoom } from "./answer-room.ts";
import type { BoundsRule } from "./bounds-check.ts";
import type { TraceContext } from "./trace-context.ts";
import type { UserNames } from "./user-names.ts";

/** The HTTP server as resources see it: the types of a request follow from the schemas that its route declares. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface ServerParts {
  readonly engine: Engine;
  readonly database: Database;
  readonly config: Config;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly definitionChecks: DefinitionChecks;
  readonly authenticator: Authenticator;
  readonly signIn: PasswordSignIn;
  readonly rateLimits: RateLimits;
  readonly openId: OpenId;
  readonly singleSignOn: SingleSignOn;
  readonly plans: Plans;
  readonly secrets: SecretBox;
  readonly userNames: UserNames;
  readonly failedAccess: FailedAccessLimit;
  /** The prefix of every path, without a slash at the end. */
  readonly basePath: string;
  /** The address at which clients reach the service, without a slash at the end. It is known once the service listens. */
  readonly publicUrl: () => string;
  /** Aborts when the server begins to close. Streams then end. */
  readonly closing: AbortSignal;
  readonly answerRoom: AnswerRoom;
}

declare module "fastify" {
  interface FastifyInstance {
    /** The engine, for hooks and helpers that have only the request. */
    readonly engine: Engine;
  }
  interface FastifyRequest {
    /** Set before the handler runs, if the operation needs a credential. */
    caller: Caller;
    /** The caller's permissions in the organization of the path. If the path names no organization, these are `caller.permissions`. */
    granted: PermissionSet;
    bodyBytes: number;
    /** The SHA-256 of the raw body, if the request has a header that identifies a repetition. */
    bodyHash: string | null;
    /** The maximums to show in the headers of the answer; null when there are none. */
    usedMaximums: readonly UsedMaximum[] | null;
    /** True when the answer is the one that this request got before. */
    isReplayed: boolean;
    /** The trace that the caller sent; null when there is none. */
    trace: TraceContext | null;
  }
  interface FastifySchema {
    /** The permission that a caller needs. Both authorization and the document read this declaration. */
    "x-permission"?: DeclaredPermission;
    /** How many cheap reads a request counts as, in the limits of requests per minute. It follows from the route (`operation.ts`). */
    "x-cost"?: number;
    /** True when a repetition can get the first answer again, marked by a header. It follows from the route (`operation.ts`). */
    "x-replayable"?: boolean;
  }
  interface FastifyContextConfig {
    /** The rule by which the operation enforces the bounds of tokens (`bounds-check.ts`). Without it, the operation rejects tokens with bounds. */
    readonly bounds?: BoundsRule;
    /** The effect of a repeated request. Every POST in the API's document must declare it, or take an Idempotency-Key. */
    readonly repetition?: Repetition;
    /** The `x-cost` of a request, if it is neither a cheap read nor a usual change (`operation.ts`). */
    readonly cost?: number;
    /** Errors of this operation besides those that follow from the rest of its declaration (`operation.ts`). */
    readonly errors?: readonly ServiceErrorCode[];
    /** The operation of which this one is an alias under another path; the audit trail uses that operation's name. */
    readonly aliasOf?: string;
    /** The reason why an operation with a writing method leaves no row in the audit trail. */
    readonly unaudited?: string;
  }
}

/**
 * The effect of a request that a generated client repeats under the same id (`request-key.ts`). An operation with `IdempotencyHeaders` gives the
 * first answer again (`transactOnce`, `commitOnce`); every other POST of the document must declare one of these, or the service does not start.
 * - `replayed`: it gives the first answer again, but takes no Idempotency-Key. Some of these operations take a password. With an Idempotency-Key, a
 *   hash of the request would be stored. The password would be the only secret in it, so the hash could be used to guess the password.
 * - `renewed`: its answer shows a secret, which is not stored. A repetition revokes what the first attempt made and answers with a new secret
 *   (`transactAnew`).
 * - `without-effect`: it changes nothing, or a repetition does no harm.
 * - `not-found`: the first attempt removed the thing, so a repetition gets 404.
 */
export type Repetition = "replayed" | "renewed" | "without-effect" | "not-found";
