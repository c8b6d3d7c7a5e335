import { Type } from "typebox";
import { builtInRoles } from "../../auth/permissions/permissions.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { isRoleName } from "../../auth/permissions/roles.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { changesOf } from "../../management/act/audit-trail.ts";
import { hasOpenInvitationWithRole } from "../../store/access/invitations.ts";
import { hasMemberWithRole } from "../../store/access/members.ts";
import {
  countRoles,
  deleteRole,
  findRole,
  insertRole,
  listRoles,
  type Role,
  updateRole,
} from "../../store/access/roles.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { lockGrantsFor, recordAudit, transactOnce } from "../door/request-acts.ts";
import {
  answer,
  closed,
  grantedPermissionsSchema,
  NewRoleName,
  noContent,
  OrganizationParams,
  RoleParams,
  remarkSchema,
} from "../door/schemas.ts";
import { findBuiltInRole, RoleSchema, renderedBuiltInRoles, renderRole } from "./render-role.ts";
import { renamed, renameWhereGiven, requireFreeName } from "./role-names.ts";

const Permissions = grantedPermissionsSchema(
  "What members with the role may do, which may be nothing. You must hold all of it yourself. A new role without it permits nothing.",
  0,
);

const path = "/organizations/:organizationId/roles";

export function roleRoutes(app: App, parts: ServerParts): void {
  const { engine, database, config, authenticator, basePath } = parts;
  const description = remarkSchema(config.maxNameLength, "What the role is for.");

  app.post(
    path,
    {
      schema: {
        operationId: "CreateRole",
        "x-permission": "role:create",
        tags: ["roles"],
        summary: "Create a role",
        params: OrganizationParams,
        headers: IdempotencyHeaders,
        body: closed({
          name: NewRoleName,
          description: Type.Optional(description),
          permissions: Type.Optional(Permissions),
        }),
        response: { 201: answer("The role.", RoleSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { name, description = "", permissions = [] } = request.body;
      if (builtInRoles.has(name)) throw builtInName(name);
      const answered = await transactOnce(parts, request, { organizationId }, async (transaction, createdAt) => {
        requireAll(await lockGrantsFor(transaction, request), permissions);
        await requireFreeName(transaction, organizationId, name);
        if ((await countRoles(transaction, organizationId)) >= config.maxRoles) throw tooManyRoles(config.maxRoles);
        const roleId = engine.newId();
        const role = { organizationId, roleId, name, description, permissions, createdAt, updatedAt: createdAt };
        await insertRole(transaction, role);
        const details = { description, permissions };
        await recordAudit(transaction, request, { targetType: "role", targetId: name, details });
        return renderRole(role);
      });
      // A first answer that an earlier release kept under its Idempotency-Key has no id.
      const roleId = answered.roleId ?? (await findRole(database, organizationId, name))?.roleId;
      if (roleId === undefined) throw notFound("role");
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}/roles/${name}`)
        .send({ ...answered, roleId });
    },
  );

  app.get(
    path,
    {
      schema: {
        operationId: "ListRoles",
        "x-permission": "role:read",
        tags: ["roles"],
        summary: "List roles",
        description: "The built-in ones too. By name.",
        params: OrganizationParams,
        querystring: closed({ ...shortListParameters }),
        response: { 200: Type.Object({ roles: Type.Array(RoleSchema), nextPageToken }, { description: "One page." }) },
      },
    },
    async (request) => {
      const page = pageOfShortList(request, isRoleName);
      const own = await listRoles(database, request.params.organizationId, page.after, page.limit);
      const builtIn = renderedBuiltInRoles.filter(({ name }) => page.after === null || name > page.after);
      const found = [...builtIn, ...own.map(renderRole)].sort((a, b) => (a.name < b.name ? -1 : 1));
      const { rows, ...next } = page.cut(found.slice(0, page.limit), (role) => role.name);
      return { roles: [...rows], ...next };
    },
  );

  app.get(
    `${path}/:role`,
    {
      schema: {
        operationId: "GetRole",
        "x-permission": "role:read",
        tags: ["roles"],
        summary: "Get a role",
        params: RoleParams,
        response: { 200: answer("The role.", RoleSchema) },
      },
    },
    async (request) => {
      const { organizationId, role: nameOrId } = request.params;
      const builtIn = findBuiltInRole(nameOrId);
      if (builtIn !== undefined) return builtIn;
      const role = await findRole(database, organizationId, nameOrId);
      if (role === undefined) throw notFound("role");
      return renderRole(role);
    },
  );

  app.patch(
    `${path}/:role`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "UpdateRole",
        "x-permission": "role:update",
        tags: ["roles"],
        summary: "Change a role",
        description:
          "Holds for all who have it on every node within a second. You must hold all that the role permits, before and afterwards. A built-in role cannot be changed. With a new `name` members and invitations keep the role under that name. So do the mappings of identity providers, which may go on using a former name; therefore it is taken until the role is deleted.",
        params: RoleParams,
        body: closed(
          {
            name: Type.Optional(NewRoleName),
            description: Type.Optional(description),
            permissions: Type.Optional(Permissions),
          },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The role as it is now.", RoleSchema) },
      },
    },
    async (request) => {
      const { organizationId, role: nameOrId } = request.params;
      const { body } = request;
      refuseBuiltIn(nameOrId);
      if (body.name !== undefined && builtInRoles.has(body.name)) throw builtInName(body.name);
      const changed = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const role = await findRole(transaction, organizationId, nameOrId);
        if (role === undefined) throw notFound("role");
        const changed = renamed(role, { ...role, ...body, updatedAt: engine.now() });
        requireAll(granted, [...role.permissions, ...changed.permissions]);
        if (changed.name !== role.name) await requireFreeName(transaction, organizationId, changed.name, role);
        await updateRole(transaction, changed);
        if (changed.name !== role.name) await renameWhereGiven(transaction, role, changed.name);
        const before = { name: role.name, ...auditedFields(role) };
        const details = changesOf(before, { name: changed.name, ...auditedFields(changed) });
        await recordAudit(transaction, request, { targetType: "role", targetId: role.name, details });
        return changed;
      });
      authenticator.forgetAll();
      return renderRole(changed);
    },
  );

  app.delete(
    `${path}/:role`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "DeleteRole",
        "x-permission": "role:delete",
        tags: ["roles"],
        summary: "Delete a role",
        description:
          "A conflict while a member has it, or an invitation that can still be accepted gives it. You must hold all that it permits.",
        params: RoleParams,
        response: { 204: noContent("It is deleted.") },
      },
    },
    async (request, reply) => {
      const { organizationId, role: nameOrId } = request.params;
      refuseBuiltIn(nameOrId);
      await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const role = await findRole(transaction, organizationId, nameOrId);
        if (role === undefined) throw notFound("role");
        requireAll(granted, role.permissions);
        const { name, roleId } = role;
        if (await hasMemberWithRole(transaction, organizationId, name)) throw inUse(name, "Members have");
        if (await hasOpenInvitationWithRole(transaction, organizationId, name, engine.now())) {
          throw inUse(name, "Open invitations give");
        }
        await deleteRole(transaction, organizationId, roleId);
        const details = auditedFields(role);
        await recordAudit(transaction, request, { targetType: "role", targetId: name, details });
      });
      return reply.code(204).send(null);
    },
  );
}

function refuseBuiltIn(nameOrId: string): void {
  const builtIn = findBuiltInRole(nameOrId);
  if (builtIn !== undefined) throw isBuiltIn(builtIn.name);
}

function auditedFields({ description, permissions }: Role) {
  return { description, permissions: [...permissions] };
}

function builtInName(name: string): ServiceError {
  const detail = "is the name of a built-in role; choose another";
  return new ServiceError("ValidationError", `\`${name}\` ${detail}.`, { problems: [{ pointer: "/name", detail }] });
}

function isBuiltIn(name: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `The role \`${name}\` is built in and stays as it is. Create one of your own.`,
  );
}

function inUse(name: string, by: string): ServiceError {
  return new ServiceError("ConflictError", `${by} the role \`${name}\`. Take it from them first, then delete it.`);
}

function tooManyRoles(maxRoles: number): ServiceError {
  return new ServiceError(
    "ConflictError",
    `An organization has at most ${maxRoles} roles of its own. Delete one first.`,
  );
}
