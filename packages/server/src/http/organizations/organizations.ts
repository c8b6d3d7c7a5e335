import { type Static, Type } from "typebox";
import type { Caller } from "../../auth/caller.ts";
import { permissionsOfRoles } from "../../auth/permissions/permissions.ts";
import { organizationKeyPattern } from "../../core/organization-key.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { type KeyedOrganization, keyOf, withKeys } from "../../management/organizations/organization-key.ts";
import {
  createOrganization,
  deleteOrganization,
  etagOfOrganization,
  updateOrganization,
} from "../../management/organizations/organizations.ts";
import { findMemberships } from "../../store/access/members.ts";
import { findOrganization, findOrganizations, listOrganizationIdsOfUser } from "../../store/access/organizations.ts";
import type { Database } from "../../store/home/database.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, type Page, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { PreconditionHeaders } from "../door/precondition.ts";
import { answer, closed, Id, nameSchema, noContent, OrganizationParams, Time } from "../door/schemas.ts";

const OrganizationSchema = Type.Object(
  {
    organizationId: Id,
    key: Type.String({
      description: "A short text for the organization. No two organizations of the service have the same key.",
    }),
    name: Type.String(),
    displayName: Type.String(),
    createdAt: Time,
    requiresSecondFactor: Type.Boolean({
      description:
        "True when the organization rejects members whose account has no second factor. This does not affect API tokens, nor people who sign in by an external issuer, which is responsible for its own second factor.",
    }),
  },
  { title: "Organization" },
);

const OrganizationKeySchema = Type.String({
  pattern: organizationKeyPattern,
  "x-rule":
    "must be 3 to 64 of the characters a-z, 0-9 and `-`, begin and end with a letter or a digit, and not have the form of an id",
  description:
    "A short text that no other organization of the service has. It never changes. If it is left out, the service makes a key from the name, and adds an ending if that key is taken.",
  example: "acme",
});

export function organizationRoutes(app: App, parts: ServerParts): void {
  createOrganizationRoute(app, parts);
  listOrganizationsRoute(app, parts);
  getOrganizationRoute(app, parts);
  updateOrganizationRoute(app, parts);
  deleteOrganizationRoute(app, parts);
}

function createOrganizationRoute(app: App, parts: ServerParts): void {
  const { database, basePath } = parts;
  app.post(
    "/organizations",
    {
      schema: {
        operationId: "CreateOrganization",
        "x-permission": "organization:create",
        tags: ["organizations"],
        summary: "Create an organization",
        description:
          "The caller becomes the owner of the organization. Every user may create organizations, as many as the operator of the service allows. An API token cannot create one, because it belongs to one organization. If another organization has the `key`, the answer is 409.",
        headers: IdempotencyHeaders,
        body: closed({ ...namesOf(parts), key: Type.Optional(OrganizationKeySchema) }),
        response: { 201: answer("The organization.", OrganizationSchema) },
      },
    },
    async (request, reply) => {
      const answered = await createOrganization(parts, callerActOf(request), request.body, renderOrganization);
      const { organizationId } = answered;
      // An answer that an earlier release stored for an Idempotency-Key may lack `key` and `requiresSecondFactor`.
      const key = answered.key ?? (await keyOf(database, answered));
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}`)
        .header("etag", etagOfOrganization({ ...answered, requiresSecondFactor: false }))
        .send({ ...answered, key, requiresSecondFactor: false });
    },
  );
}

function listOrganizationsRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/organizations",
    {
      schema: {
        operationId: "ListOrganizations",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "List your organizations",
        description:
          "The answer lists the organizations that the caller may read, the newest first. An API token and an OAuth client may read only their own.",
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object(
            { organizations: Type.Array(OrganizationSchema), nextPageToken },
            { description: "One page." },
          ),
        },
      },
    },
    async (request) => {
      const { organizations, ...next } = await listOwn(database, request.caller, pageOfShortList(request));
      return { organizations: (await withKeys(database, organizations)).map(renderOrganization), ...next };
    },
  );
}

function getOrganizationRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/organizations/:organizationId",
    {
      schema: {
        operationId: "GetOrganization",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "Get an organization",
        description: "The answer has the names of the organization, and says whether it requires a second factor.",
        params: OrganizationParams,
        response: { 200: answer("The organization.", OrganizationSchema) },
      },
    },
    async (request, reply) => {
      const organization = await findOrganization(database, request.params.organizationId);
      if (organization === undefined) throw notFound("organization");
      reply.header("etag", etagOfOrganization(organization));
      return renderOrganization({ ...organization, key: await keyOf(database, organization) });
    },
  );
}

function updateOrganizationRoute(app: App, parts: ServerParts): void {
  const { name, displayName } = namesOf(parts);
  app.patch(
    "/organizations/:organizationId",
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "UpdateOrganization",
        "x-permission": "organization:update",
        tags: ["organizations"],
        summary: "Change an organization",
        description:
          "You can change the names of the organization, and whether it requires a second factor of its members. Only a person who has a second factor, or who signs in at an external issuer, can require a second factor. Any other person gets 409, and an API token gets 403. The requirement takes effect on every node within a second.",
        params: OrganizationParams,
        headers: PreconditionHeaders,
        body: closed(
          {
            name: Type.Optional(name),
            displayName: Type.Optional(displayName),
            requiresSecondFactor: Type.Optional(Type.Boolean()),
          },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The organization as it is now.", OrganizationSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const changed = await updateOrganization(parts, callerActOf(request), organizationId, request.body);
      reply.header("etag", etagOfOrganization(changed));
      return renderOrganization(changed);
    },
  );
}

function deleteOrganizationRoute(app: App, parts: ServerParts): void {
  app.delete(
    "/organizations/:organizationId",
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "DeleteOrganization",
        "x-permission": "organization:delete",
        tags: ["organizations"],
        summary: "Delete an organization",
        description:
          "Afterwards nothing in the organization can be reached, its tokens are not valid any more, and its key is free for another organization. While the organization has jobs that are not finished, the answer is 409.",
        params: OrganizationParams,
        headers: PreconditionHeaders,
        response: { 204: noContent("The organization is deleted.") },
      },
    },
    async (request, reply) => {
      await deleteOrganization(parts, callerActOf(request), request.params.organizationId);
      return reply.code(204).send(null);
    },
  );
}

function namesOf({ config: { maxNameLength } }: ServerParts) {
  return {
    name: nameSchema(maxNameLength, "A short name. It need not be unique, since the id identifies the organization."),
    displayName: nameSchema(maxNameLength, "The name that people see."),
  };
}

async function listOwn(database: Database, { principal, organizationId, client }: Caller, page: Page) {
  if (organizationId !== undefined) {
    const own = await findOrganization(database, organizationId);
    return { organizations: own === undefined ? [] : [own] };
  }
  const found =
    client === undefined
      ? await listOrganizationIdsOfUser(database, principal.id, page.after, page.limit)
      : [client.organizationId];
  const { rows, ...next } = page.cut(found, (id) => id);
  const memberships = await findMemberships(database, principal.id, rows);
  const readable = rows.filter((id) => {
    const membership = memberships.get(id);
    if (membership === undefined) return false;
    return permissionsOfRoles(membership.roles, membership.ownRolePermissions).has("organization:read");
  });
  return { organizations: await findOrganizations(database, readable), ...next };
}

function renderOrganization(organization: KeyedOrganization): Static<typeof OrganizationSchema> {
  const { organizationId, key, name, displayName, createdAt, requiresSecondFactor } = organization;
  return { organizationId, key, name, displayName, createdAt: toTime(createdAt), requiresSecondFactor };
}
