import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import { networkOf } from "../../auth/credentials/network.ts";
import { organizationOfClient } from "../../auth/credentials/token-form.ts";
import type { FailedAccessLimit } from "../../auth/limits/failed-access.ts";
import type { Permission, PermissionSet } from "../../auth/permissions/permissions.ts";
import { requirePermission } from "../../auth/permissions/required.ts";
import { isRoleNameOrId } from "../../auth/permissions/roles.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { ServerParts } from "./app.ts";
import { checkBounds } from "./bounds-check.ts";
import { addressOf, sourceOf } from "./client-address.ts";

/**
 * Authorizes a request. The checks are made in this order: the credential (401), whether the caller belongs to the organization (404), the permission
 * (403), and whether the ids in the path can name anything (404). Returns without a promise when everything was looked up a moment ago.
 */
export function authorization(
  permission: Permission | "any",
  authenticator: Authenticator,
  failedAccess: FailedAccessLimit,
): onRequestHookHandler {
  return (request, _reply, done) => {
    const bearer = bearerOf(request);
    // Many callers may share one address. So after too many failures from it, a caller whose token was valid a moment ago is still let in.
    if (failedAccess.isOver(networkOf(addressOf(request))) && !authenticator.isFamiliar(bearer))
      throw failedAccess.error();
    const caller = authenticator.authenticate(bearer, () => sourceOf(request));
    const authorized =
      caller instanceof Promise
        ? caller.then((found) => authorizeUnlessOver(request, found, permission, authenticator, failedAccess))
        : authorizeUnlessOver(request, caller, permission, authenticator, failedAccess);
    if (authorized instanceof Promise) return authorized;
    done();
    return undefined;
  };
}

/** Authorizes again a request that has waited for its answer, because the caller may have lost access meanwhile. Throws as `authorization` does. */
export async function requireStillAllowed(
  request: FastifyRequest,
  permission: Permission | "any",
  { authenticator, database }: Pick<ServerParts, "authenticator" | "database">,
): Promise<void> {
  const caller = await authenticator.authenticate(bearerOf(request), () => sourceOf(request));
  await authorize(request, caller, permission, authenticator);
  await checkBounds(request, request.routeOptions.config.bounds, database);
}

/**
 * Authorizes a caller for a job that the request names outside of its path. Throws as `authorization` does. A job of an organization to which the
 * caller does not belong counts as failed access, although the request itself is answered.
 */
export async function requireJob(
  caller: Caller,
  key: JobKey,
  permission: Permission,
  { authenticator, database, failedAccess }: Pick<ServerParts, "authenticator" | "database" | "failedAccess">,
): Promise<void> {
  if (!uuid.test(key.organizationId)) throw notFound("organization");
  const granted = await authenticator.permissionsIn(caller, key.organizationId);
  if (granted === undefined) {
    failedAccess.note(caller.principal.id);
    throw notFound("organization");
  }
  requirePermission(granted, permission);
  if (!uuid.test(key.jobId)) throw notFound("job");
  await checkBounds({ caller, params: key }, { workflows: "job", tags: "unaffected" }, database);
}

/** Tells whether the request would be authorized now; false when that cannot be found out. */
export async function isStillAllowed(
  request: FastifyRequest,
  permission: Permission | "any",
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
  // Node.js silently keeps the first of two Authorization headers. A proxy before the service may have checked the other one.
  if (match?.[1] === undefined || countHeaders(raw.rawHeaders, "authorization") > 1) {
    throw new ServiceError("AuthenticationError", "Send one header `Authorization: Bearer <token>`.");
  }
  return match[1];
}

function authorizeUnlessOver(
  request: FastifyRequest,
  caller: Caller,
  permission: Permission | "any",
  authenticator: Authenticator,
  failedAccess: FailedAccessLimit,
): undefined | Promise<undefined> {
  if (failedAccess.isOver(caller.principal.id)) throw failedAccess.error();
  return authorize(request, caller, permission, authenticator);
}

function authorize(
  request: FastifyRequest,
  caller: Caller,
  permission: Permission | "any",
  authenticator: Authenticator,
): undefined | Promise<undefined> {
  request.caller = caller;
  const params = request.params as Record<string, string>;
  const { organizationId } = params;
  if (organizationId === undefined) return requireGranted(request, caller.permissions, permission);
  if (!uuid.test(organizationId)) throw notFound("organization");
  params.organizationId = organizationId.toLowerCase();
  const granted = authenticator.permissionsIn(caller, params.organizationId);
  return granted instanceof Promise
    ? granted.then((found) => requireGranted(request, found, permission))
    : requireGranted(request, granted, permission);
}

function requireGranted(
  request: FastifyRequest,
  granted: PermissionSet | undefined,
  permission: Permission | "any",
): undefined {
  if (granted === undefined) throw notFound("organization");
  if (permission !== "any") requirePermission(granted, permission);
  request.granted = granted;
  checkIds(request.params as Record<string, string>);
}

/** Throws the same 404 for an id of the wrong form as for an unknown id, and also for a name that no role can have. Writes UUIDs in lower case. */
function checkIds(params: Record<string, string>): void {
  if (params.role !== undefined) {
    if (uuid.test(params.role)) params.role = params.role.toLowerCase();
    if (!isRoleNameOrId(params.role)) throw notFound("role");
  }
  if (params.clientId !== undefined && organizationOfClient(params.clientId) === undefined) {
    throw notFound("OAuth client");
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
