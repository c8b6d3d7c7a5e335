import { type Static, Type } from "typebox";
import { organizationOfClient } from "../../auth/credentials/token-form.ts";
import { clientOrigins, clientsOf } from "../../auth/oidc/clients.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { createOAuthClient, deleteOAuthClient } from "../../management/organizations/oauth-clients.ts";
import { findOAuthClient, listOAuthClients, type OAuthClient } from "../../store/access/oauth-clients.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import {
  ActorSchema,
  answer,
  closed,
  Id,
  nameSchema,
  noContent,
  OAuthClientParams,
  OrganizationParams,
  Time,
} from "../door/schemas.ts";

const OAuthClientSchema = Type.Object(
  {
    clientId: Type.String({ description: "The `client_id` of OAuth. It is no secret." }),
    organizationId: Id,
    name: Type.String(),
    redirectUris: Type.Array(Type.String()),
    createdBy: ActorSchema,
    createdAt: Time,
  },
  { title: "OAuthClient" },
);

const maxRedirectUris = 10;
const maxRedirectUriLength = 2_000;

const path = "/organizations/:organizationId/oauth-clients";

export function oauthClientRoutes(app: App, parts: ServerParts): void {
  createOAuthClientRoute(app, parts);
  listOAuthClientsRoute(app, parts);
  getOAuthClientRoute(app, parts);
  deleteOAuthClientRoute(app, parts);
}

function createOAuthClientRoute(app: App, parts: ServerParts): void {
  const { config, basePath, publicUrl } = parts;
  app.post(
    path,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "CreateOAuthClient",
        "x-permission": "oauthclient:create",
        tags: ["oauth-clients"],
        summary: "Create an OAuth client",
        description:
          "An OAuth client is a browser application to which members of the organization sign in. It is a public client: it has no secret, and uses the authorization code flow with PKCE (`S256`). Its tokens are valid in this organization only.",
        params: OrganizationParams,
        headers: IdempotencyHeaders,
        body: closed({
          name: nameSchema(config.maxNameLength, "The name that members read when they are asked to agree."),
          redirectUris: Type.Array(Type.String({ maxLength: maxRedirectUriLength }), {
            minItems: 1,
            maxItems: maxRedirectUris,
            uniqueItems: true,
            description:
              "The addresses to which the browser may go after the sign-in, compared character by character. Each begins with `https://`, or with `http://localhost` or `http://127.0.0.1`. Pages at their origins may call this API.",
          }),
        }),
        response: { 201: answer("The OAuth client.", OAuthClientSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const ownOrigins = clientOrigins(clientsOf(publicUrl(), config.dashboardRedirectUris));
      const asked = { fields: request.body, ownOrigins };
      const created = await createOAuthClient(parts, callerActOf(request), organizationId, asked, render);
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}/oauth-clients/${created.clientId}`)
        .send(created);
    },
  );
}

function listOAuthClientsRoute(app: App, { database }: ServerParts): void {
  app.get(
    path,
    {
      schema: {
        operationId: "ListOAuthClients",
        "x-permission": "oauthclient:list",
        tags: ["oauth-clients"],
        summary: "List OAuth clients",
        description: "The answer lists the OAuth clients, the newest first.",
        params: OrganizationParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object(
            { oauthClients: Type.Array(OAuthClientSchema), nextPageToken },
            { description: "One page." },
          ),
        },
      },
    },
    async (request) => {
      const page = pageOfShortList(request, (key) => organizationOfClient(key) !== undefined);
      const found = await listOAuthClients(database, request.params.organizationId, page.after, page.limit);
      const { rows, ...next } = page.cut(found, ({ clientId }) => clientId);
      return { oauthClients: rows.map(render), ...next };
    },
  );
}

function getOAuthClientRoute(app: App, { database }: ServerParts): void {
  app.get(
    `${path}/:clientId`,
    {
      schema: {
        operationId: "GetOAuthClient",
        "x-permission": "oauthclient:list",
        tags: ["oauth-clients"],
        summary: "Get an OAuth client",
        description: "The answer has the name of the client and its redirect addresses.",
        params: OAuthClientParams,
        response: { 200: answer("The OAuth client.", OAuthClientSchema) },
      },
    },
    async (request) => {
      const { organizationId, clientId } = request.params;
      const client = await findOAuthClient(database, organizationId, clientId);
      if (client === undefined) throw notFound("OAuth client");
      return render(client);
    },
  );
}

function deleteOAuthClientRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:clientId`,
    {
      schema: {
        operationId: "DeleteOAuthClient",
        "x-permission": "oauthclient:delete",
        tags: ["oauth-clients"],
        summary: "Delete an OAuth client",
        description: "All sessions and tokens of the client end on every node within a second.",
        params: OAuthClientParams,
        response: { 204: noContent("The OAuth client is deleted.") },
      },
    },
    async (request, reply) => {
      await deleteOAuthClient(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function render(client: OAuthClient): Static<typeof OAuthClientSchema> {
  const { clientId, organizationId, name, redirectUris, createdBy, createdAt } = client;
  return { clientId, organizationId, name, redirectUris: [...redirectUris], createdBy, createdAt: toTime(createdAt) };
}
