import type { FastifyRequest } from "fastify";
import type { Act, CallerAct, UsedMaximum } from "../../management/act/act.ts";
import { sourceOf } from "./client-address.ts";
import { preconditionOf } from "./precondition.ts";
import { attemptOf, requestKeyOf } from "./request-key.ts";

/** Makes the act that a request asks for: its actor, its operation, its id and its address. */
export function actOf(request: FastifyRequest): Act {
  const { caller, routeOptions } = request;
  const operation = routeOptions.config.aliasOf ?? routeOptions.schema?.operationId;
  if (operation === undefined) throw new Error("The route has no operationId.");
  const onCounted = (used: UsedMaximum) => {
    request.usedMaximums = [...(request.usedMaximums ?? []), used];
  };
  const clientId = caller.client?.clientId;
  return { actor: caller.principal, operation, clientId, ...sourceOf(request), onCounted };
}

/**
 * Makes the act for a change of the control plane, which needs more from the request than other acts. Throws 400 for a malformed Idempotency-Key or
 * If-Match.
 */
export function callerActOf(request: FastifyRequest): CallerAct {
  const { caller, routeOptions } = request;
  const key = requestKeyOf(request);
  const onReplayed = () => {
    request.isReplayed = true;
  };
  return {
    ...actOf(request),
    actor: caller.principal,
    caller,
    permission: routeOptions.schema?.["x-permission"] ?? "none",
    precondition: preconditionOf(request),
    repetition: key && { ...key, attempt: attemptOf(request), onReplayed },
  };
}
