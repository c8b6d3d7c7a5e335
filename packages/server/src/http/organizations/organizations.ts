import { type Static, Type } from "typebox";
import type { Caller } from "../../auth/authenticator.ts";
import { permissionsOfRoles } from "../../auth/permissions/permissions.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { changesOf } from "../../management/act/audit-trail.ts";
import { findMemberships, insertMember } from "../../store/access/members.ts";
import { deleteOrganizationKey } from "../../store/access/organization-keys.ts";
import {
  claimOrganization,
  deleteOrganization,
  findOrganization,
  findOrganizations,
  hasUnfinishedJobs,
  insertOrganization,
  listOrganizationIdsOfUser,
  lockOrganization,
  updateOrganization,
} from "../../store/access/organizations.ts";
import type { Database } from "../../store/home/database.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, type Page, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { recordAudit, transactOnce } from "../door/request-acts.ts";
import { answer, closed, Id, nameSchema, noContent, OrganizationParams, Time } from "../door/schemas.ts";
import { claimKey, type KeyedOrganization, keyOf, OrganizationKeySchema, withKeys } from "./organization-key.ts";

const OrganizationSchema = Type.Object(
  {
    organizationId: Id,
    key: Type.String({ description: "No two organizations of the service have the same." }),
    name: Type.String(),
    displayName: Type.String(),
    createdAt: Time,
  },
  { title: "Organization" },
);

export function organizationRoutes(app: App, parts: ServerParts): void {
  const { engine, database, config, authenticator, basePath } = parts;
  const name = nameSchema(config.maxNameLength, "A short name. Not unique: an organization is known by its id.");
  const displayName = nameSchema(config.maxNameLength, "The name that people see.");

  app.post(
    "/organizations",
    {
      schema: {
        operationId: "CreateOrganization",
        "x-permission": "organization:create",
        tags: ["organizations"],
        summary: "Create an organization",
        description:
          "The caller becomes its owner. Every user may do this; an API token, which lives in one organization, may not. A `key` that another organization has is a conflict.",
        headers: IdempotencyHeaders,
        body: closed({ name, displayName, key: Type.Optional(OrganizationKeySchema) }),
        response: { 201: answer("The organization.", OrganizationSchema) },
      },
    },
    async (request, reply) => {
      const userId = request.caller.principal.id;
      const answered = await transactOnce(parts, request, { userId }, async (transaction, createdAt) => {
        const organizationId = engine.newId();
        const { key: askedFor, ...names } = request.body;
        const organization = { ...names, organizationId, createdAt };
        await insertOrganization(transaction, organization);
        const key = await claimKey(transaction, organization, askedFor);
        await insertMember(transaction, { organizationId, userId, roles: ["owner"], createdAt });
        const created = { organizationId, targetType: "organization", targetId: organizationId } as const;
        await recordAudit(transaction, request, { ...created, details: { ...names, key } });
        return renderOrganization({ ...organization, key });
      });
      const { organizationId } = answered;
      // A first answer that an earlier release kept under its Idempotency-Key has no key.
      const key = answered.key ?? (await keyOf(database, answered));
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}`)
        .send({ ...answered, key });
    },
  );

  app.get(
    "/organizations",
    {
      schema: {
        operationId: "ListOrganizations",
        "x-permission": "organization:read",
        tags: ["organizations"],
        summary: "List your organizations",
        description: "Those in which the caller may read the organization; of an API token its own. Newest first.",
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
    async (request) => {
      const organization = await findOrganization(database, request.params.organizationId);
      if (organization === undefined) throw notFound("organization");
      return renderOrganization({ ...organization, key: await keyOf(database, organization) });
    },
  );

  app.patch(
    "/organizations/:organizationId",
    {
      schema: {
        operationId: "UpdateOrganization",
        "x-permission": "organization:update",
        tags: ["organizations"],
        summary: "Rename an organization",
        params: OrganizationParams,
        body: closed(
          { name: Type.Optional(name), displayName: Type.Optional(displayName) },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The organization as it is now.", OrganizationSchema) },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const changed = await database.transaction(async (transaction) => {
        const organization = await lockOrganization(transaction, organizationId);
        if (organization === undefined) throw notFound("organization");
        await updateOrganization(transaction, { ...organization, ...request.body }, engine.now());
        const details = changesOf(organization, request.body);
        await recordAudit(transaction, request, { targetType: "organization", targetId: organizationId, details });
        return { ...organization, ...request.body };
      });
      return renderOrganization({ ...changed, key: await keyOf(database, changed) });
    },
  );

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
        response: { 204: noContent("It is deleted.") },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      await database.transaction(async (transaction) => {
        if (!(await claimOrganization(transaction, organizationId))) throw notFound("organization");
        if (await hasUnfinishedJobs(transaction, organizationId)) throw unfinishedJobs();
        await deleteOrganization(transaction, organizationId, engine.now());
        await deleteOrganizationKey(transaction, organizationId);
        await recordAudit(transaction, request, { targetType: "organization", targetId: organizationId });
      });
      authenticator.forgetAll();
      return reply.code(204).send(null);
    },
  );
}

async function listOwn(database: Database, { principal, organizationId }: Caller, page: Page) {
  if (organizationId !== undefined) {
    const own = await findOrganization(database, organizationId);
    return { organizations: own === undefined ? [] : [own] };
  }
  const found = await listOrganizationIdsOfUser(database, principal.id, page.after, page.limit);
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
  const { organizationId, key, name, displayName, createdAt } = organization;
  return { organizationId, key, name, displayName, createdAt: toTime(createdAt) };
}

function unfinishedJobs(): ServiceError {
  return new ServiceError(
    "ConflictError",
    "The organization has jobs that are not finished. Cancel them or let them finish, then delete it.",
  );
}
