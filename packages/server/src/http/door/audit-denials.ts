import { createHash, hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Caller } from "../../auth/caller.ts";
import { ServiceError } from "../../core/service-error.ts";
import { type AuditTargetType, recordDenial } from "../../management/act/audit-trail.ts";
import type { Database } from "../../store/home/database.ts";
import { actOf } from "./act.ts";

const secondMs = 1_000;
const minuteMs = 60_000;
/** The maximum number of rows that this node writes for one denied caller in a minute: some 30 KB. Further denials are only counted. */
const maxRowsPerMinute = 60;
/** The number of callers whose denials are counted at one time. When there are more, the count that began first is dropped. */
const maxCallers = 10_000;

/**
 * Writes a row of the audit trail for each 403 of an operation that the audit trail also records when it succeeds. The row is written before the
 * answer is sent. Equal denials of one caller (same operation, body and target) get at most one row per second. All denials of one caller together
 * get at most sixty rows per minute. The field `unrecorded` of the caller's next row says how many denials were left out.
 */
export class AuditDenials {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #callers = new Map<string, RecentDenials>();

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Returns undefined when there is nothing to write. Never rejects: a denied caller gets the answer even if the denial cannot be written. */
  record(error: unknown, request: FastifyRequest): Promise<void> | undefined {
    if (!(error instanceof ServiceError) || error.code !== "AuthorizationError") return undefined;
    const organizationId = organizationOf(request);
    if (organizationId === undefined || !isAudited(request)) return undefined;
    const recent = this.#recentOf(`${organizationId} ${request.caller.principal.id}`);
    // A denial beyond the bound is only counted, and its body is not read.
    if (recent.isFull(performance.now())) {
      recent.leaveOut();
      return undefined;
    }
    return this.#recordOnce(request, organizationId, recent, error.message);
  }

  async #recordOnce(
    request: FastifyRequest,
    organizationId: string,
    recent: RecentDenials,
    reason: string,
  ): Promise<void> {
    const target = targetOf(request);
    const what = `${request.routeOptions.schema?.operationId} ${target.targetId} ${await hashOfBody(request)}`;
    const unrecorded = recent.note(what, performance.now());
    if (unrecorded === undefined) return;
    const details = unrecorded === 0 ? { reason } : { reason, unrecorded };
    const act = actOf(request);
    const denied = { organizationId, ...target, details };
    try {
      await recordDenial(this.#database, request.server.engine, act, denied);
    } catch (err) {
      this.#logger.error({ err, act, denied }, "a denied request could not be recorded");
    }
  }

  #recentOf(caller: string): RecentDenials {
    const known = this.#callers.get(caller);
    if (known !== undefined) return known;
    const [oldest] = this.#callers.keys();
    if (this.#callers.size >= maxCallers && oldest !== undefined) this.#callers.delete(oldest);
    const recent = new RecentDenials();
    this.#callers.set(caller, recent);
    return recent;
  }
}

/** One caller's denials in the minute that began with the first of them. */
class RecentDenials {
  #minuteBegan = Number.NEGATIVE_INFINITY;
  #rows = 0;
  #unrecorded = 0;
  readonly #lastOf = new Map<string, number>();

  isFull(now: number): boolean {
    if (now - this.#minuteBegan >= minuteMs) {
      this.#minuteBegan = now;
      this.#rows = 0;
      this.#lastOf.clear();
    }
    return this.#rows >= maxRowsPerMinute;
  }

  leaveOut(): undefined {
    this.#unrecorded += 1;
  }

  /** Notes a denial. Returns how many were left out since the last row; undefined when this denial is left out, too. */
  note(what: string, now: number): number | undefined {
    const last = this.#lastOf.get(what) ?? Number.NEGATIVE_INFINITY;
    if (this.isFull(now) || now - last < secondMs) return this.leaveOut();
    this.#rows += 1;
    this.#lastOf.set(what, now);
    const unrecorded = this.#unrecorded;
    this.#unrecorded = 0;
    return unrecorded;
  }
}

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function isAudited({ method, routeOptions }: FastifyRequest): boolean {
  return !readingMethods.has(method) && routeOptions.config.unaudited === undefined;
}

/**
 * Returns the organization whose audit trail records the denial; undefined when there is none. A caller who does not belong to the organization in
 * the path got a 404 before anything could be denied. When the path names no organization, the function returns the organization of the API token or
 * of the OAuth client; any other caller has no organization.
 */
function organizationOf({ params, caller }: FastifyRequest): string | undefined {
  // Public pages have no caller.
  if ((caller as Caller | null) === null) return undefined;
  return (
    (params as { organizationId?: string }).organizationId ?? caller.organizationId ?? caller.client?.organizationId
  );
}

/**
 * Returns a hash that distinguishes one body from another. It is kept in memory, for a minute or longer, and never written, since a body may hold
 * a password. If a request is denied before the handler runs, its body has not been read. Such a body is read here, up to the length that would be
 * accepted.
 */
function hashOfBody({ body, raw, routeOptions }: FastifyRequest): string | Promise<string> {
  // When the client has hung up, no more data comes, and none of the events for which the code below waits.
  if (raw.readableEnded || raw.destroyed) return hash("sha256", JSON.stringify(body ?? null));
  const digest = createHash("sha256");
  let left = routeOptions.bodyLimit ?? 0;
  return new Promise((resolve) => {
    const end = () => {
      for (const event of ["end", "error", "close"]) raw.off(event, end);
      raw.off("data", read);
      resolve(digest.digest("hex"));
    };
    const read = (chunk: Buffer) => {
      digest.update(chunk);
      left -= chunk.length;
      if (left < 0) end();
    };
    for (const event of ["end", "error", "close"]) raw.once(event, end);
    raw.on("data", read);
  });
}

interface Target {
  readonly targetType: AuditTargetType;
  readonly targetId: string | null;
}

/** Returns the thing that the path names last. Its id has not been checked yet, so a text that cannot be an id or a name is left out. */
function targetOf(request: FastifyRequest): Target {
  const params = request.params as Readonly<Record<string, string>>;
  for (const name of Object.keys(params).reverse()) {
    const targetType = typeOfParameter[name];
    const value = params[name] ?? "";
    if (targetType !== undefined) return { targetType, targetId: isName.test(value) ? value : null };
  }
  return { targetType: "organization", targetId: null };
}

const isName = /^[^\p{Cc}]{1,256}$/u;

const typeOfParameter: Readonly<Record<string, AuditTargetType>> = {
  organizationId: "organization",
  userId: "member",
  invitationId: "invitation",
  role: "role",
  tokenId: "apiToken",
  clientId: "oauthClient",
  workflowId: "workflow",
  versionId: "version",
  tag: "tag",
  queue: "taskQueue",
  jobId: "job",
};
