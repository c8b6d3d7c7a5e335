import type { FastifyRequest } from "fastify";
import type { Act, CallerAct } from "../../management/act/act.ts";
import { sourceOf } from "./client-address.ts";
import { attemptOf, requestKeyOf } from "./request-key.ts";

/** Makes the act that a request asks for: its actor, its operation, its id and its address. */
export function actOf(request: FastifyRequest): Act {
  const { caller, routeOptions } = request;
  const operation = routeOptions.config.aliasOf ?? routeOptions.schema?.operationId;
  if (operation === undefined) throw new Error("The route has no operationId.");
  return { actor: caller.principal, operation, clientId: caller.client?.clientId, ...sourceOf(request) };
}

/** Makes an act with what a change of the control plane needs to know of its caller. Throws 400 for an Idempotency-Key that cannot be one. */
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
    repetition: key && { ...key, attempt: attemptOf(request), onReplayed },
  };
}
