import { type Static, Type } from "typebox";
import type { Config } from "../../config.ts";
import { notFound } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { parseTime } from "../../core/time.ts";
import { createApiToken, etagOfToken, revokeApiToken, updateApiToken } from "../../management/tokens/api-tokens.ts";
import { defaultTokenDays } from "../../management/tokens/expiry.ts";
import { findApiToken, listApiTokens } from "../../store/access/tokens.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { boundToBody } from "../door/bound-to.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { PreconditionHeaders } from "../door/precondition.ts";
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

const Permissions = grantedPermissionsSchema(
  "The permissions of the token. You can give only permissions that you have yourself.",
);

const path = "/organizations/:organizationId/api-tokens";

export function apiTokenRoutes(app: App, parts: ServerParts): void {
  createApiTokenRoute(app, parts);
  listApiTokensRoute(app, parts);
  getApiTokenRoute(app, parts);
  updateApiTokenRoute(app, parts);
  revokeApiTokenRoute(app, parts);
}

function createApiTokenRoute(app: App, parts: ServerParts): void {
  const { config, basePath } = parts;
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
          "The token is shown only in this answer, so the operation takes no Idempotency-Key. If the answer is lost, revoke the token and create another.",
        params: OrganizationParams,
        body: closed({
          name: tokenName(config),
          permissions: Permissions,
          expiresAt: Type.Optional(NewExpirySchema),
          boundTo: Type.Optional(boundToBody(config.maxNameLength)),
        }),
        response: { 201: answer("The token.", NewApiTokenSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { name, permissions, boundTo } = request.body;
      const expiresAt = expiryOf(request.body.expiresAt);
      const wanted = { organizationId, name, permissions, expiresAt, boundTo };
      const { created, token } = await createApiToken(parts, callerActOf(request), wanted);
      const { updatedAt: _, ...rendered } = renderToken(created);
      const location = `${basePath}/organizations/${organizationId}/api-tokens/${created.tokenId}`;
      return reply
        .code(201)
        .header("location", location)
        .header("etag", etagOfToken(created))
        .send({ ...rendered, token });
    },
  );
}

function listApiTokensRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      schema: {
        operationId: "ListApiTokens",
        "x-permission": "apitoken:read",
        tags: ["api-tokens"],
        summary: "List API tokens",
        description: "The answer lists the tokens that were not revoked, the newest first.",
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
}

function getApiTokenRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "GetApiToken",
        "x-permission": "apitoken:read",
        tags: ["api-tokens"],
        summary: "Get an API token",
        description: "The answer has everything about the token except its secret.",
        params: TokenParams,
        response: { 200: answer("The token, without its secret.", ApiTokenSchema) },
      },
    },
    async (request, reply) => {
      const token = await findApiToken(database, request.params.organizationId, request.params.tokenId);
      if (token === undefined) throw notFound("API token");
      reply.header("etag", etagOfToken(token));
      return renderToken(token);
    },
  );
}

function updateApiTokenRoute(app: App, parts: ServerParts): void {
  const { config } = parts;
  const boundTo = boundToBody(config.maxNameLength);
  app.patch(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "UpdateApiToken",
        "x-permission": "apitoken:update",
        tags: ["api-tokens"],
        summary: "Change an API token",
        description:
          "The change is in force on every node within a second. You must have every permission that the token has before the change, and every permission that it has afterwards. If you call with a token that expires, you cannot give more rights to a token that expires later than yours.",
        params: TokenParams,
        headers: PreconditionHeaders,
        body: closed(
          {
            name: Type.Optional(tokenName(config)),
            permissions: Type.Optional(Permissions),
            expiresAt: Type.Optional(
              expirySchema("The time at which the token ends. With null, the token does not expire any more."),
            ),
            boundTo: Type.Optional(
              Type.Unsafe<Static<typeof boundTo> | null>({
                ...boundTo,
                type: ["object", "null"],
                description:
                  "The bounds that replace the bounds of the token. With null, the token has no bounds any more.",
              }),
            ),
          },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The token as it is now.", ApiTokenSchema) },
      },
    },
    async (request, reply) => {
      const { name, permissions, boundTo } = request.body;
      const change = { name, permissions, expiresAt: expiryOf(request.body.expiresAt), boundTo };
      const changed = await updateApiToken(parts, callerActOf(request), request.params, change);
      reply.header("etag", etagOfToken(changed));
      return renderToken(changed);
    },
  );
}

function revokeApiTokenRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:tokenId`,
    {
      schema: {
        operationId: "RevokeApiToken",
        "x-permission": "apitoken:revoke",
        tags: ["api-tokens"],
        summary: "Revoke an API token",
        description:
          "The token ends for good on every node within a second, and so does an earlier secret that a rotation left valid. You must have every permission of the token.",
        params: TokenParams,
        headers: PreconditionHeaders,
        response: { 204: noContent("The token is revoked.") },
      },
    },
    async (request, reply) => {
      await revokeApiToken(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function tokenName({ maxNameLength }: Config) {
  return nameSchema(maxNameLength, "The purpose of the token.");
}

export const NewExpirySchema = expirySchema(
  `The time at which the token ends. If it is left out, the token ends after ${defaultTokenDays} days or at the end of the token that you call with, whichever is earlier. With null, the token does not expire.`,
);

function expirySchema(description: string) {
  return Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: `${description} When you call with a token, the time must not be later than the end of that token.`,
  });
}

/** Returns undefined when the request says nothing about the expiry, and null for a token that does not expire. */
export function expiryOf(text: string | null | undefined): Timestamp | null | undefined {
  return text === undefined || text === null ? text : parseTime("expiresAt", text);
}
