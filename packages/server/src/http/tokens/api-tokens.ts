import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { actorOf } from "../../auth/authenticator.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { boundsOf } from "../../auth/permissions/token-bounds.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { parseTime, toTime } from "../../core/time.ts";
import { changesOf } from "../../management/act/audit-trail.ts";
import {
  type ApiToken,
  findApiToken,
  insertApiToken,
  listApiTokens,
  lockApiToken,
  revokeApiToken,
  updateApiToken,
} from "../../store/access/tokens.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { App, ServerParts } from "../door/app.ts";
import { boundToBody, readBoundTo, renderBounds, requireFitting, unbound } from "../door/bound-to.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { lockGrantsFor, recordAudit, transactAnew } from "../door/request-acts.ts";
import {
  answer,
  closed,
  grantedPermissionsSchema,
  nameSchema,
  noContent,
  OrganizationParams,
  TokenParams,
} from "../door/schemas.ts";
import { ApiTokenSchema, NewApiTokenSchema, renderToken } from "./render-token.ts";

const Permissions = grantedPermissionsSchema("What the token may do. You can grant only what you hold yourself.");

const path = "/organizations/:organizationId/api-tokens";

export function apiTokenRoutes(app: App, parts: ServerParts): void {
  const { engine, database, config, authenticator, basePath } = parts;
  const name = nameSchema(config.maxNameLength, "What the token is for.");
  const boundTo = boundToBody(config.maxNameLength);

  const forget = (hashes: readonly (Buffer | null)[]) => {
    for (const tokenHash of hashes) if (tokenHash !== null) authenticator.forgetToken(tokenHash);
  };

  app.post(
    path,
    {
      config: { repetition: "renewed" },
      schema: {
        operationId: "CreateApiToken",
        "x-permission": "apitoken:create",
        tags: ["api-tokens"],
        summary: "Create an API token",
        description:
          "The answer holds the token, this once. Therefore it takes no Idempotency-Key: when the answer was lost, revoke the token and create another.",
        params: OrganizationParams,
        body: closed({
          name,
          permissions: Permissions,
          expiresAt: Type.Optional(Type.String({ format: "date-time", description: "Left out: it does not expire." })),
          boundTo: Type.Optional(boundTo),
        }),
        response: { 201: answer("The token.", NewApiTokenSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { body } = request;
      const createdAt = engine.now();
      const expiresAt = expiryOf(body.expiresAt, createdAt) ?? null;
      const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
      const scope = { organizationId };
      const { created, ended } = await transactAnew(parts, request, scope, async (transaction, earlier?: Earlier) => {
        requireAll(await lockGrantsFor(transaction, request), body.permissions);
        const bound = body.boundTo && (await readBoundTo(transaction, organizationId, body.boundTo));
        const created: ApiToken = {
          ...(bound ?? unbound),
          organizationId,
          tokenId: engine.newId(),
          name: body.name,
          permissions: body.permissions,
          tokenPrefix,
          createdBy: actorOf(request.caller),
          createdAt,
          updatedAt: createdAt,
          expiresAt,
          lastUsedAt: null,
          rotatedAt: null,
          previousExpiresAt: null,
        };
        requireFitting(created, body.permissions, "/permissions");
        const ended = await endLostToken(transaction, request, earlier?.tokenId, created);
        await insertApiToken(transaction, created, tokenHash);
        const details = auditedFields(created);
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: created.tokenId, details });
        return { made: { tokenId: created.tokenId }, answer: { created, ended } };
      });
      forget(ended);
      const { updatedAt: _, ...rendered } = renderToken(created);
      const location = `${basePath}/organizations/${organizationId}/api-tokens/${created.tokenId}`;
      return reply
        .code(201)
        .header("location", location)
        .send({ ...rendered, token });
    },
  );

  app.get(
    path,
    {
      schema: {
        operationId: "ListApiTokens",
        "x-permission": "apitoken:read",
        tags: ["api-tokens"],
        summary: "List API tokens",
        description: "Newest first, without those that were revoked.",
        params: OrganizationParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ apiTokens: Type.Array(ApiTokenSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOfShortList(request);
      const found = await listApiTokens(database, request.params.organizationId, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (token) => token.tokenId);
      return { apiTokens: rows.map(renderToken), ...next };
    },
  );

  app.get(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "GetApiToken",
        "x-permission": "apitoken:read",
        tags: ["api-tokens"],
        summary: "Get an API token",
        params: TokenParams,
        response: { 200: answer("All but the token itself.", ApiTokenSchema) },
      },
    },
    async (request) => {
      const token = await findApiToken(database, request.params.organizationId, request.params.tokenId);
      if (token === undefined) throw notFound("API token");
      return renderToken(token);
    },
  );

  app.patch(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "UpdateApiToken",
        "x-permission": "apitoken:update",
        tags: ["api-tokens"],
        summary: "Change an API token",
        description:
          "Holds on every node within a second. You must hold all that the token may do, before and afterwards.",
        params: TokenParams,
        body: closed(
          {
            name: Type.Optional(name),
            permissions: Type.Optional(Permissions),
            expiresAt: Type.Optional(
              Type.Unsafe<string | null>({
                type: ["string", "null"],
                format: "date-time",
                description: "null: it does not expire any more.",
              }),
            ),
            boundTo: Type.Optional(
              Type.Unsafe<Static<typeof boundTo> | null>({
                ...boundTo,
                type: ["object", "null"],
                description:
                  "Takes the place of all that the token is bound to. null: it is bound to nothing any more.",
              }),
            ),
          },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The token as it is now.", ApiTokenSchema) },
      },
    },
    async (request) => {
      const { organizationId, tokenId } = request.params;
      const updatedAt = engine.now();
      const { body } = request;
      const expiresAt = expiryOf(body.expiresAt, updatedAt);
      const { changed, hashes } = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const found = await lockApiToken(transaction, organizationId, tokenId);
        if (found === undefined) throw notFound("API token");
        const { tokenHash, previousTokenHash, ...token } = found;
        // A longer life and a wider bound are grants too, and to narrow a token is to take away.
        requireAll(granted, [...token.permissions, ...(body.permissions ?? [])]);
        const bound = body.boundTo && (await readBoundTo(transaction, organizationId, body.boundTo));
        const changed: ApiToken = {
          ...token,
          ...(body.boundTo === null ? unbound : bound),
          name: body.name ?? token.name,
          permissions: body.permissions ?? token.permissions,
          expiresAt: expiresAt === undefined ? token.expiresAt : expiresAt,
          updatedAt,
        };
        const pointer = body.permissions === undefined ? "/boundTo/jobEvent" : "/permissions";
        requireFitting(changed, changed.permissions, pointer);
        await updateApiToken(transaction, changed);
        const details = changesOf(auditedFields(token), auditedFields(changed));
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return { changed, hashes: [tokenHash, previousTokenHash] };
      });
      forget(hashes);
      return renderToken(changed);
    },
  );

  app.delete(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "RevokeApiToken",
        "x-permission": "apitoken:revoke",
        tags: ["api-tokens"],
        summary: "Revoke an API token",
        description:
          "For good, with a secret that was rotated away. Holds on every node within a second. You must hold all that the token may do.",
        params: TokenParams,
        response: { 204: noContent("It is revoked.") },
      },
    },
    async (request, reply) => {
      const { organizationId, tokenId } = request.params;
      const hashes = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const token = await lockApiToken(transaction, organizationId, tokenId);
        if (token === undefined) throw notFound("API token");
        requireAll(granted, token.permissions);
        await revokeApiToken(transaction, organizationId, tokenId, engine.now());
        const details = auditedFields(token);
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return [token.tokenHash, token.previousTokenHash];
      });
      forget(hashes);
      return reply.code(204).send(null);
    },
  );
}

/** Revokes the token of an attempt whose answer was lost: nobody has its secret. Answers the hashes by which caches know it. */
async function endLostToken(
  transaction: Transaction,
  request: FastifyRequest,
  tokenId: string | undefined,
  { organizationId, tokenId: replacedBy, createdAt }: ApiToken,
): Promise<readonly (Buffer | null)[]> {
  const lost = tokenId && (await lockApiToken(transaction, organizationId, tokenId));
  if (!lost) return [];
  await revokeApiToken(transaction, organizationId, lost.tokenId, createdAt);
  const details = { ...auditedFields(lost), replacedBy };
  const note = { targetType: "apiToken", targetId: lost.tokenId, details, action: "RevokeApiToken" } as const;
  await recordAudit(transaction, request, note);
  return [lost.tokenHash, lost.previousTokenHash];
}

/** What the audit trail keeps of a token: nothing that it could be recognized by elsewhere. */
function auditedFields(token: ApiToken): JsonObject {
  const { name, permissions, expiresAt } = token;
  const { boundTo = null } = renderBounds(boundsOf(token));
  return { name, permissions: [...permissions], expiresAt: expiresAt === null ? null : toTime(expiresAt), boundTo };
}

/** Undefined when nothing is said about it, null when the token shall not expire. */
export function expiryOf(text: string | null | undefined, now: Timestamp): Timestamp | null | undefined {
  if (text === undefined || text === null) return text;
  const expiresAt = parseTime("expiresAt", text);
  if (expiresAt > now) return expiresAt;
  const detail = `must be in the future; now it is ${toTime(now)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}

/** The token of an earlier attempt, whose answer was lost. */
type Earlier = { readonly tokenId: string };
