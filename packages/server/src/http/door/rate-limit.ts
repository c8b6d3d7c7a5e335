import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from "fastify";
import type { Policy, Quota, Scope } from "../../auth/limits/quota.ts";
import {
  type CountedRequest,
  type CountOutcome,
  ExceededQuota,
  type RateLimits,
} from "../../auth/limits/rate-limits.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { ServerParts } from "./app.ts";
import type { RequestMetrics } from "./request-metrics.ts";

/**
 * Counts a request that was authorized, and tells the caller how much is left. A request over a limit gets 429 before its body is read. Returns a
 * promise only when the store must be asked.
 */
export function limitRate(
  counted: CountedRequest,
  rateLimits: RateLimits,
  metrics: RequestMetrics,
): onRequestHookHandler {
  const conclude = (reply: FastifyReply, outcome: CountOutcome): undefined => {
    if (outcome === undefined) return;
    if (!(outcome instanceof ExceededQuota)) return announce(reply, outcome, rateLimits.secondsLeft());
    const { quota, retryAfterSeconds } = outcome;
    announce(reply, quota, retryAfterSeconds);
    metrics.requestLimited(quota.scope, quota.policy);
    throw new ServiceError("RateLimitError", explain(outcome), { retryAfterSeconds });
  };
  return (request, reply, done) => {
    const { organizationId } = request.params as { readonly organizationId?: string };
    const outcome = rateLimits.count(request.caller, organizationId, counted);
    if (outcome instanceof Promise) return outcome.then((found) => conclude(reply, found));
    conclude(reply, outcome);
    done();
    return undefined;
  };
}

/**
 * Writes the headers of draft-ietf-httpapi-ratelimit-headers: the policy, how much of it is left, and in how many seconds all of it is available
 * again.
 */
function announce(reply: FastifyReply, { policy, limit, remaining }: Quota, seconds: number): undefined {
  reply.header("ratelimit-policy", policyText(policy, limit));
  reply.header("ratelimit", `"${policy}";r=${remaining};t=${seconds}`);
}

/** Stores in the request how many requests of the organization may wait on this node, and how many do. The answer's headers show both. */
export function noteWaiting(
  request: FastifyRequest,
  { engine, rateLimits }: Pick<ServerParts, "engine" | "rateLimits">,
  organizationId: string,
): void {
  const usedCount = engine.waitingCountOf(organizationId);
  request.usedMaximums = [{ ...rateLimits.readMaximum(organizationId, "waitingRequests"), usedCount }];
}

/**
 * Adds to the answer's headers the maximums for the things that a request made, or for waiting requests. They are quotas without a time window:
 * deleting a thing, or the end of a wait, frees its place. An answer with an error shows no maximums, because the request made nothing.
 */
export const announceMaximums: onSendHookHandler = ({ usedMaximums }, reply, payload, done) => {
  const isMade = reply.statusCode < 400;
  for (const { name, maximum, usedCount } of (isMade && usedMaximums) || []) {
    addItem(reply, "ratelimit-policy", `"${name}";q=${maximum}`);
    addItem(reply, "ratelimit", `"${name}";r=${Math.max(0, maximum - usedCount)}`);
  }
  done(null, payload);
};

function addItem(reply: FastifyReply, header: string, item: string): void {
  const before = reply.getHeader(header);
  reply.header(header, before === undefined ? item : `${before}, ${item}`);
}

/** The number of different texts is bounded by the number of different limits that the operator has set. */
const policyTexts: Readonly<Record<Policy, Map<number, string>>> = { requests: new Map(), submits: new Map() };

function policyText(policy: Policy, limit: number): string {
  const texts = policyTexts[policy];
  let text = texts.get(limit);
  if (text === undefined) {
    text = `"${policy}";q=${limit};w=60`;
    texts.set(limit, text);
  }
  return text;
}

function explain({ quota: { scope, policy, limit, remaining }, cost, retryAfterSeconds }: ExceededQuota): string {
  const { subject, remedy } = limited[scope];
  const doings =
    policy === "submits"
      ? `submitted ${limit} jobs in this minute, which is the limit`
      : `used ${limit - remaining} of ${limit} requests in this minute${cost > 1 ? `, and this one counts as ${cost}` : ""}`;
  const variable = `STEPWELL_${scope === "organization" ? "ORGANIZATION" : "TOKEN"}_${policy.toUpperCase()}_PER_MINUTE`;
  return `${subject} ${doings}. Try again in ${retryAfterSeconds} s. The operator of the service can raise the limit: ${remedy}${variable}.`;
}

const limited: Readonly<Record<Scope, { readonly subject: string; readonly remedy: string }>> = {
  organization: {
    subject: "All callers of this organization together have",
    remedy: "`stepwell org limits` for this organization, or, for all organizations, ",
  },
  token: { subject: "This API token has", remedy: "" },
  user: { subject: "You have", remedy: "" },
};
