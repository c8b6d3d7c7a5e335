import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Authenticator, Caller } from "../../auth/authenticator.ts";
import { networkOf } from "../../auth/credentials/network.ts";
import type { Origin } from "../../auth/external/provided-membership.ts";
import type { Refusals } from "../../auth/limits/refusals.ts";
import type { Permission, PermissionSet } from "../../auth/permissions/permissions.ts";
import { requirePermission } from "../../auth/permissions/required.ts";
import { isRoleNameOrId } from "../../auth/permissions/roles.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { ServerParts } from "./app.ts";
import { addressOf } from "./client-address.ts";
import { checkBounds } from "./token-bounds.ts";

/**
 * Lets a request in that may be made, in this order: who is it (401), have they anything to do with this organization (404), may they
 * do this (403), can the ids of the path name anything at all (404). Without a promise when all of it was looked up a moment ago.
 */
export function authorization(
  permission: Permission | "any",
  authenticator: Authenticator,
  refusals: Refusals,
): onRequestHookHandler {
  return (request, _reply, done) => {
    const bearer = bearerOf(request);
    // Behind one address there may be many: whose token is in use is let through.
    if (refusals.isOver(networkOf(addressOf(request))) && !authenticator.isFamiliar(bearer)) throw refusals.error();
    const caller = authenticator.authenticate(bearer, () => originOf(request));
    const admitted =
      caller instanceof Promise
        ? caller.then((found) => admitUnlessOver(request, found, permission, authenticator, refusals))
        : admitUnlessOver(request, caller, permission, authenticator, refusals);
    if (admitted instanceof Promise) return admitted;
    done();
    return undefined;
  };
}

/** Throws what a request that was let in a while ago would be refused with now: who waited for its answer may have been shut out meanwhile. */
export async function requireStillAllowed(
  request: FastifyRequest,
  permission: Permission,
  { authenticator, database }: Pick<ServerParts, "authenticator" | "database">,
): Promise<void> {
  const caller = await authenticator.authenticate(bearerOf(request), () => originOf(request));
  await admit(request, caller, permission, authenticator);
  await checkBounds(request, request.routeOptions.config.bounds, database);
}

/** Whether it would be let in now; not if that cannot be found out. */
export async function isStillAllowed(
  request: FastifyRequest,
  permission: Permission,
  parts: Pick<ServerParts, "authenticator" | "database">,
): Promise<boolean> {
  try {
    await requireStillAllowed(request, permission, parts);
    return true;
  } catch {
    return false;
  }
}

function bearerOf({ headers, raw }: FastifyRequest): string {
  const match = /^Bearer ([!-~]+)$/i.exec(headers.authorization ?? "");
  // Of two Authorization headers Node keeps the first and says nothing; a proxy before us may have looked at the other.
  if (match?.[1] === undefined || countHeaders(raw.rawHeaders, "authorization") > 1) {
    throw new ServiceError("AuthenticationError", "Send one header `Authorization: Bearer <token>`.");
  }
  return match[1];
}

function admitUnlessOver(
  request: FastifyRequest,
  caller: Caller,
  permission: Permission | "any",
  authenticator: Authenticator,
  refusals: Refusals,
): undefined | Promise<undefined> {
  if (refusals.isOver(caller.principal.id)) throw refusals.error();
  return admit(request, caller, permission, authenticator);
}

/** For what a token of an issuer outside changes, since it may make its bearer a member. */
function originOf(request: FastifyRequest): Origin {
  return { requestId: request.id, address: addressOf(request) };
}

function admit(
  request: FastifyRequest,
  caller: Caller,
  permission: Permission | "any",
  authenticator: Authenticator,
): undefined | Promise<undefined> {
  request.caller = caller;
  const params = request.params as Record<string, string>;
  const { organizationId } = params;
  if (organizationId === undefined) return enter(request, caller.permissions, permission);
  if (!uuid.test(organizationId)) throw notFound("organization");
  params.organizationId = organizationId.toLowerCase();
  const granted = authenticator.permissionsIn(caller, params.organizationId);
  return granted instanceof Promise
    ? granted.then((found) => enter(request, found, permission))
    : enter(request, granted, permission);
}

function enter(request: FastifyRequest, granted: PermissionSet | undefined, permission: Permission | "any"): undefined {
  if (granted === undefined) throw notFound("organization");
  if (permission !== "any") requirePermission(granted, permission);
  request.granted = granted;
  checkIds(request.params as Record<string, string>);
}

/** An id that is no UUID is as unknown as one that nobody has, and so is a name that no role can have. */
function checkIds(params: Record<string, string>): void {
  if (params.role !== undefined) {
    if (uuid.test(params.role)) params.role = params.role.toLowerCase();
    if (!isRoleNameOrId(params.role)) throw notFound("role");
  }
  for (const name in params) {
    const kind = kindOfId[name];
    if (kind === undefined) continue;
    const id = params[name] ?? "";
    if (!uuid.test(id)) throw notFound(kind);
    params[name] = id.toLowerCase();
  }
}

const kindOfId: Readonly<Record<string, string>> = {
  workflowId: "workflow",
  versionId: "version of this workflow",
  jobId: "job",
  tokenId: "API token",
  userTokenId: "user token",
  userId: "member",
  invitationId: "invitation",
  sessionId: "session",
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}
