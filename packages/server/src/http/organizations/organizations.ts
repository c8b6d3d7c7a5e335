import { type Static, Type } from "typebox";
import type { Caller } from "../../auth/authenticator.ts";
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
    key: Type.String({ description: "No two organizations of the service have the same." }),
    name: Type.String(),
    displayName: Type.String(),
    createdAt: Time,
    requiresSecondFactor: Type.Boolean({
      description:
        "true: members whose account has no second factor are refused here. API tokens are not concerned, nor is anybody who signs in by an issuer outside, which answers for it.",
    }),
  },
  { title: "Organization" },
);

const OrganizationKeySchema = Type.String({
  pattern: organizationKeyPattern,
  "x-rule":
    "must be 3 to 64 of the characters a-z, 0-9 and `-`, begin and end with a letter or a digit, and not have the form of an id",
  description:
    "A short text that no other organization has. If you leave it out, it is made from the name, with an ending where that is taken. It never changes.",
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
          "The caller becomes its owner. Every user may do this, as often as the operator of the service lets them; an API token, which lives in one organization, may not. A `key` that another organization has is a conflict.",
        headers: IdempotencyHeaders,
        body: closed({ ...namesOf(parts), key: Type.Optional(OrganizationKeySchema) }),
        response: { 201: answer("The organization.", OrganizationSchema) },
      },
    },
    async (request, reply) => {
      const answered = await createOrganization(parts, callerActOf(request), request.body, renderOrganization);
      const { organizationId } = answered;
      // A first answer that an earlier release kept under its Idempotency-Key has neither of these.
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
          "The organizations that the caller may read, newest first. For an API token and an OAuth client, their own one.",
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
          "Its names, and whether it demands a second factor of its members. Only a person who has one can demand it; that is a conflict for everybody else. It holds on every node within a second.",
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
          "A conflict while it has jobs that are not finished. Afterwards nothing in it can be reached, and its tokens are not valid any more. Its key is free for another organization.",
        params: OrganizationParams,
        headers: PreconditionHeaders,
        response: { 204: noContent("It is deleted.") },
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
    name: nameSchema(maxNameLength, "A short name. Not unique: an organization is known by its id."),
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
