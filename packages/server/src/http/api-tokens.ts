import { type Static, Type } from "typebox";
import { actorOf } from "../auth/authenticator.ts";
import { grantablePermissions, type PermissionSet, permissions } from "../auth/permissions.ts";
import { createToken } from "../auth/token-form.ts";
import type { Timestamp } from "../core/job-state.ts";
import { notFound, ServiceError } from "../core/service-error.ts";
import {
  type ApiToken,
  findApiToken,
  insertApiToken,
  listApiTokens,
  lockApiToken,
  revokeApiToken,
  updateApiToken,
} from "../store/tokens.ts";
import type { App, ServerParts } from "./app.ts";
import { changesOf, recordAudit } from "./audit-trail.ts";
import { requirePermission } from "./authorization.ts";
import { nextPageToken, pageOf, pagingParameters } from "./paging.ts";
import {
  ActorSchema,
  answer,
  closed,
  Id,
  nameSchema,
  noContent,
  OrganizationParams,
  oneOf,
  PermissionSchema,
  Time,
  TokenParams,
} from "./schemas.ts";
import { parseTime, toTime } from "./time.ts";

const tokenFields = {
  tokenId: Id,
  name: Type.String(),
  permissions: Type.Array(PermissionSchema),
  tokenPrefix: Type.String({ description: "The beginning of the token, to recognize it by." }),
  createdBy: ActorSchema,
  createdAt: Time,
  expiresAt: Type.Optional(Time),
};

const ApiTokenSchema = Type.Object(
  {
    ...tokenFields,
    updatedAt: Time,
    lastUsedAt: Type.Optional(Type.String({ format: "date-time", description: "To the minute." })),
  },
  { title: "ApiToken" },
);

const NewApiTokenSchema = Type.Object(
  { ...tokenFields, token: Type.String({ description: "The token itself. It is shown this once and kept nowhere." }) },
  { title: "NewApiToken" },
);

const Permissions = Type.Array(oneOf(grantablePermissions), {
  minItems: 1,
  maxItems: permissions.length,
  uniqueItems: true,
  description: "What the token may do. You can grant only what you hold yourself.",
});

const path = "/organizations/:organizationId/api-tokens";

export function apiTokenRoutes(app: App, { engine, database, config, authenticator, basePath }: ServerParts): void {
  const name = nameSchema(config.maxNameLength, "What the token is for.");

  app.post(
    path,
    {
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
        }),
        response: { 201: answer("The token.", NewApiTokenSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const granted = request.body.permissions;
      const createdAt = engine.now();
      const expiresAt = expiryOf(request.body.expiresAt, createdAt) ?? null;
      requireAll(request.granted, granted);
      const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
      const created: ApiToken = {
        organizationId,
        tokenId: engine.newId(),
        name: request.body.name,
        permissions: granted,
        tokenPrefix,
        createdBy: actorOf(request.caller),
        createdAt,
        updatedAt: createdAt,
        expiresAt,
        lastUsedAt: null,
      };
      await database.transaction(async (transaction) => {
        await insertApiToken(transaction, created, tokenHash);
        const details = auditedFields(created);
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: created.tokenId, details });
      });
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
        querystring: closed({ ...pagingParameters }),
        response: {
          200: Type.Object({ apiTokens: Type.Array(ApiTokenSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOf(request);
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
          "Holds on every node within a second. To change what a token may do, or for how long, you must hold all that it may do afterwards.",
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
          },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The token as it is now.", ApiTokenSchema) },
      },
    },
    async (request) => {
      const { organizationId, tokenId } = request.params;
      const updatedAt = engine.now();
      const { body, granted } = request;
      const expiresAt = expiryOf(body.expiresAt, updatedAt);
      const { changed, tokenHash } = await database.transaction(async (transaction) => {
        const token = await lockApiToken(transaction, organizationId, tokenId);
        if (token === undefined) throw notFound("API token");
        const changed: ApiToken = {
          ...token,
          name: body.name ?? token.name,
          permissions: body.permissions ?? token.permissions,
          expiresAt: expiresAt === undefined ? token.expiresAt : expiresAt,
          updatedAt,
        };
        // A longer life is a grant too.
        if (body.permissions !== undefined || expiresAt !== undefined) requireAll(granted, changed.permissions);
        const tokenHash = await updateApiToken(transaction, changed);
        const details = changesOf(auditedFields(token), auditedFields(changed));
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return { changed, tokenHash };
      });
      if (tokenHash !== undefined) authenticator.forgetToken(tokenHash);
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
        description: "For good. Holds on every node within a second.",
        params: TokenParams,
        response: { 204: noContent("It is revoked.") },
      },
    },
    async (request, reply) => {
      const { organizationId, tokenId } = request.params;
      const tokenHash = await database.transaction(async (transaction) => {
        const token = await lockApiToken(transaction, organizationId, tokenId);
        const revoked = await revokeApiToken(transaction, organizationId, tokenId, engine.now());
        if (token === undefined || revoked === undefined) throw notFound("API token");
        const details = auditedFields(token);
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return revoked;
      });
      authenticator.forgetToken(tokenHash);
      return reply.code(204).send(null);
    },
  );
}

/** Nobody grants what they lack. */
function requireAll(held: PermissionSet, granted: readonly string[]): void {
  for (const permission of permissions) if (granted.includes(permission)) requirePermission(held, permission);
}

/** What the audit trail keeps of a token: nothing that it could be recognized by elsewhere. */
function auditedFields({ name, permissions, expiresAt }: ApiToken) {
  return { name, permissions: [...permissions], expiresAt: expiresAt === null ? null : toTime(expiresAt) };
}

/** Undefined when nothing is said about it, null when the token shall not expire. */
export function expiryOf(text: string | null | undefined, now: Timestamp): Timestamp | null | undefined {
  if (text === undefined || text === null) return text;
  const expiresAt = parseTime("expiresAt", text);
  if (expiresAt > now) return expiresAt;
  const detail = `must be in the future; now it is ${toTime(now)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}

function renderToken(token: ApiToken): Static<typeof ApiTokenSchema> {
  const { tokenId, name, tokenPrefix, createdBy, createdAt, updatedAt, expiresAt, lastUsedAt } = token;
  return {
    tokenId,
    name,
    permissions: permissions.filter((permission) => token.permissions.includes(permission)),
    tokenPrefix,
    createdBy,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
    ...(expiresAt !== null && { expiresAt: toTime(expiresAt) }),
    ...(lastUsedAt !== null && { lastUsedAt: toTime(lastUsedAt) }),
  };
}
