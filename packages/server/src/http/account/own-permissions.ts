import { Type } from "typebox";
import { grantablePermissions, permissions, permissionsOfRoles } from "../../auth/permissions/permissions.ts";
import { notFound } from "../../core/service-error.ts";
import { findMemberships } from "../../store/access/members.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, closed, OrganizationParams, oneOf, PermissionSchema } from "../door/schemas.ts";

const OwnPermissionsSchema = Type.Object(
  {
    permissions: Type.Array(PermissionSchema),
    roles: Type.Optional(
      Type.Array(Type.String(), { description: "The roles of a user. An API token and an OAuth client have none." }),
    ),
  },
  { title: "OwnPermissions" },
);

const PermissionCheckSchema = Type.Object(
  {
    allowed: Type.Unsafe<Record<string, boolean>>({
      type: "object",
      additionalProperties: { type: "boolean" },
      description: "The permissions that you asked for, each with true or false.",
    }),
    all: Type.Boolean({ description: "True when you have all of these permissions." }),
  },
  { title: "PermissionCheck" },
);

const path = "/organizations/:organizationId/permissions";

/** A token that is bound to some workflows or tags can call these operations, too. WhoAmI says what it is bound to. */
const unaffected = { workflows: "unaffected", tags: "unaffected" } as const;

/** The operations that tell callers their permissions in an organization, so that pages and programs show only what the caller may do. */
export function ownPermissionRoutes(app: App, parts: ServerParts): void {
  getOwnPermissionsRoute(app, parts);
  checkPermissionsRoute(app);
}

function getOwnPermissionsRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/me`,
    {
      config: { bounds: unaffected },
      schema: {
        operationId: "GetOwnPermissions",
        "x-permission": "any",
        tags: ["members"],
        summary: "Get your own permissions",
        description:
          "The answer lists all permissions that you have in this organization, including those that other permissions imply.",
        params: OrganizationParams,
        response: { 200: answer("Your permissions in this organization.", OwnPermissionsSchema) },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const { principal, client } = request.caller;
      if (principal.type !== "user" || client !== undefined) {
        return { permissions: permissions.filter((one) => request.granted.has(one)) };
      }
      const membership = (await findMemberships(database, principal.id, [organizationId])).get(organizationId);
      if (membership === undefined) throw notFound("organization");
      const held = permissionsOfRoles(membership.roles, membership.ownRolePermissions);
      return { permissions: permissions.filter((one) => held.has(one)), roles: [...membership.roles] };
    },
  );
}

function checkPermissionsRoute(app: App): void {
  app.post(
    `${path}/check`,
    {
      config: { bounds: unaffected, repetition: "without-effect", unaudited: "It changes nothing." },
      schema: {
        operationId: "CheckPermissions",
        "x-permission": "any",
        tags: ["members"],
        summary: "Check your own permissions",
        description:
          "The answer says which of the permissions in the request you have. Since the operation changes nothing, it takes no Idempotency-Key.",
        params: OrganizationParams,
        body: closed({
          permissions: Type.Array(oneOf(grantablePermissions), {
            minItems: 1,
            maxItems: grantablePermissions.length,
            uniqueItems: true,
          }),
        }),
        response: {
          200: answer("For each permission, whether you have it in this organization.", PermissionCheckSchema),
        },
      },
    },
    async (request) => {
      const asked = request.body.permissions.map((one) => [one, request.granted.has(one)] as const);
      return { allowed: Object.fromEntries(asked), all: asked.every(([, isAllowed]) => isAllowed) };
    },
  );
}
