import { type Static, Type } from "typebox";
import { builtInRoles, permissions } from "../auth/permissions.ts";
import { isRoleName } from "../auth/roles.ts";
import { notFound, ServiceError } from "../core/service-error.ts";
import { hasOpenInvitationWithRole } from "../store/invitations.ts";
import { hasMemberWithRole } from "../store/members.ts";
import { countRoles, deleteRole, findRoles, insertRole, listRoles, type Role, updateRole } from "../store/roles.ts";
import type { App, ServerParts } from "./app.ts";
import { changesOf, recordAudit } from "./audit-trail.ts";
import { requireAll } from "./authorization.ts";
import { lockGrantsFor } from "./grants.ts";
import { IdempotencyHeaders, transactOnce } from "./idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "./paging.ts";
import {
  answer,
  closed,
  grantedPermissionsSchema,
  noContent,
  OrganizationParams,
  PermissionSchema,
  RoleName,
  RoleParams,
  remarkSchema,
  Time,
} from "./schemas.ts";
import { toTime } from "./time.ts";

const RoleSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    permissions: Type.Array(PermissionSchema),
    isBuiltIn: Type.Boolean({ description: "The same in every organization, and never changed." }),
    createdAt: Type.Optional(Time),
    updatedAt: Type.Optional(Time),
  },
  { title: "Role" },
);

const Permissions = grantedPermissionsSchema("What members with the role may do. You must hold all of it yourself.");

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
        body: closed({ name: RoleName, description: Type.Optional(description), permissions: Permissions }),
        response: { 201: answer("The role.", RoleSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { name, description = "", permissions } = request.body;
      if (builtInRoles.has(name)) throw builtInName(name);
      const created = await transactOnce(parts, request, { organizationId }, async (transaction, createdAt) => {
        requireAll(await lockGrantsFor(transaction, request), permissions);
        if ((await findRoles(transaction, organizationId, [name])).length > 0) throw nameTaken(name);
        if ((await countRoles(transaction, organizationId)) >= config.maxRoles) throw tooManyRoles(config.maxRoles);
        const role = { organizationId, name, description, permissions, createdAt, updatedAt: createdAt };
        await insertRole(transaction, role);
        const details = { description, permissions };
        await recordAudit(transaction, request, { targetType: "role", targetId: name, details });
        return renderRole(role);
      });
      return reply
        .code(201)
        .header("location", `${basePath}/organizations/${organizationId}/roles/${name}`)
        .send(created);
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
      const builtIn = builtInOnes.filter(({ name }) => page.after === null || name > page.after);
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
      const { organizationId, role: name } = request.params;
      const builtIn = builtInOnes.find((role) => role.name === name);
      if (builtIn !== undefined) return builtIn;
      const [role] = await findRoles(database, organizationId, [name]);
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
          "Holds for all who have it on every node within a second. You must hold all that the role permits, before and afterwards. A built-in role cannot be changed.",
        params: RoleParams,
        body: closed(
          { description: Type.Optional(description), permissions: Type.Optional(Permissions) },
          { minProperties: 1, "x-rule": "must name at least one field to change" },
        ),
        response: { 200: answer("The role as it is now.", RoleSchema) },
      },
    },
    async (request) => {
      const { organizationId, role: name } = request.params;
      const { body } = request;
      if (builtInRoles.has(name)) throw isBuiltIn(name);
      const changed = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const [role] = await findRoles(transaction, organizationId, [name]);
        if (role === undefined) throw notFound("role");
        const changed: Role = { ...role, ...body, updatedAt: engine.now() };
        requireAll(granted, [...role.permissions, ...changed.permissions]);
        await updateRole(transaction, changed);
        const details = changesOf(auditedFields(role), auditedFields(changed));
        await recordAudit(transaction, request, { targetType: "role", targetId: name, details });
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
      const { organizationId, role: name } = request.params;
      if (builtInRoles.has(name)) throw isBuiltIn(name);
      await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const [role] = await findRoles(transaction, organizationId, [name]);
        if (role === undefined) throw notFound("role");
        requireAll(granted, role.permissions);
        if (await hasMemberWithRole(transaction, organizationId, name)) throw inUse(name, "Members have");
        if (await hasOpenInvitationWithRole(transaction, organizationId, name, engine.now())) {
          throw inUse(name, "Open invitations give");
        }
        await deleteRole(transaction, organizationId, name);
        const details = auditedFields(role);
        await recordAudit(transaction, request, { targetType: "role", targetId: name, details });
      });
      return reply.code(204).send(null);
    },
  );
}

const builtInDescriptions: Readonly<Record<string, string>> = {
  owner: "May do everything.",
  developer: "Builds workflows, runs jobs, and makes tokens for programs.",
  operator: "Runs and watches jobs, and reads the audit log.",
  viewer: "Looks at everything but the audit log and tokens, and changes nothing.",
  ci: "Deploys workflow versions and submits jobs.",
};

const builtInOnes: readonly Static<typeof RoleSchema>[] = [...builtInRoles].map(([name, held]) => ({
  name,
  description: builtInDescriptions[name] ?? "",
  permissions: inOrder(held),
  isBuiltIn: true,
}));

function auditedFields({ description, permissions }: Role) {
  return { description, permissions: [...permissions] };
}

function renderRole(role: Role): Static<typeof RoleSchema> {
  const { name, description, createdAt, updatedAt } = role;
  return {
    name,
    description,
    permissions: inOrder(role.permissions),
    isBuiltIn: false,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
  };
}

function inOrder(held: readonly string[]) {
  return permissions.filter((permission) => held.includes(permission));
}

function builtInName(name: string): ServiceError {
  const detail = "is the name of a built-in role; choose another";
  return new ServiceError("ValidationError", `\`${name}\` ${detail}.`, { problems: [{ pointer: "/name", detail }] });
}

function nameTaken(name: string): ServiceError {
  return new ServiceError("ConflictError", `There is a role \`${name}\` already. Change it, or choose another name.`);
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
