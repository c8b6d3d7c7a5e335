import { Type } from "typebox";
import { findBuiltInRole } from "../../auth/permissions/built-in-roles.ts";
import { isRoleName } from "../../auth/permissions/roles.ts";
import { notFound } from "../../core/service-error.ts";
import { createRole, deleteRole, etagOfRole, updateRole } from "../../management/organizations/roles.ts";
import { findRole, listRoles } from "../../store/access/roles.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { PreconditionHeaders } from "../door/precondition.ts";
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
import { RoleSchema, renderBuiltInRole, renderedBuiltInRoles, renderRole } from "./render-role.ts";

const Permissions = grantedPermissionsSchema(
  "The permissions of members with the role. You must have all of them yourself. The list may be empty. A new role without this field permits nothing.",
  0,
);

const path = "/organizations/:organizationId/roles";

export function roleRoutes(app: App, parts: ServerParts): void {
  createRoleRoute(app, parts);
  listRolesRoute(app, parts);
  getRoleRoute(app, parts);
  updateRoleRoute(app, parts);
  deleteRoleRoute(app, parts);
}

function createRoleRoute(app: App, parts: ServerParts): void {
  const { database, basePath } = parts;
  const description = descriptionOf(parts);
  app.post(
    path,
    {
      schema: {
        operationId: "CreateRole",
        "x-permission": "role:create",
        tags: ["roles"],
        summary: "Create a role",
        description:
          "You must have every permission of the role. If another role of the organization has or had the name, the answer is 409.",
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
      const fields = { name, description, permissions };
      const answered = await createRole(parts, callerActOf(request), organizationId, fields, renderRole);
      // An answer that an earlier release stored for an Idempotency-Key may lack the id.
      const roleId = answered.roleId ?? (await findRole(database, organizationId, name))?.roleId;
      if (roleId === undefined) throw notFound("role");
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}/roles/${name}`)
        .header("etag", etagOfRole({ ...answered, roleId }))
        .send({ ...answered, roleId });
    },
  );
}

function listRolesRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      schema: {
        operationId: "ListRoles",
        "x-permission": "role:read",
        tags: ["roles"],
        summary: "List roles",
        description: "The answer lists the roles in the order of their names, including the built-in ones.",
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
}

function getRoleRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:role`,
    {
      schema: {
        operationId: "GetRole",
        "x-permission": "role:read",
        tags: ["roles"],
        summary: "Get a role",
        description: "The answer has the permissions of the role, which can be a built-in one.",
        params: RoleParams,
        response: { 200: answer("The role.", RoleSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId, role: nameOrId } = request.params;
      const builtIn = findBuiltInRole(nameOrId);
      if (builtIn !== undefined) {
        reply.header("etag", etagOfRole(builtIn));
        return renderBuiltInRole(builtIn);
      }
      const role = await findRole(database, organizationId, nameOrId);
      if (role === undefined) throw notFound("role");
      reply.header("etag", etagOfRole(role));
      return renderRole(role);
    },
  );
}

function updateRoleRoute(app: App, parts: ServerParts): void {
  const description = descriptionOf(parts);
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
          "The change takes effect for all members with the role, on every node within a second. You must have every permission that the role has before the change, and every permission that it has afterwards. A built-in role cannot be changed. If you change the `name`, members and invitations keep the role. The mappings of identity providers keep it too, even if they still use the old name, so no other role can get the old name until this role is deleted.",
        params: RoleParams,
        headers: PreconditionHeaders,
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
    async (request, reply) => {
      const changed = await updateRole(parts, callerActOf(request), request.params, request.body);
      reply.header("etag", etagOfRole(changed));
      return renderRole(changed);
    },
  );
}

function deleteRoleRoute(app: App, parts: ServerParts): void {
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
          "You must have every permission of the role. While a member has the role, or an open invitation gives it, the answer is 409.",
        params: RoleParams,
        headers: PreconditionHeaders,
        response: { 204: noContent("The role is deleted.") },
      },
    },
    async (request, reply) => {
      await deleteRole(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function descriptionOf({ config }: ServerParts) {
  return remarkSchema(config.maxNameLength, "The purpose of the role.");
}
