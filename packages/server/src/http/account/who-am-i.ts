import { type Static, Type } from "typebox";
import { type Permission, permissions } from "../../auth/permissions/permissions.ts";
import { toTime } from "../../core/time.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { BoundToSchema, renderBounds } from "../door/bound-to.ts";
import { answer, Id, oneOf, PermissionSchema } from "../door/schemas.ts";

const CallerSchema = Type.Object(
  {
    type: oneOf(["user", "apiToken"]),
    id: Type.String({ format: "uuid", description: "The user's id, or the API token's." }),
    name: Type.String(),
    email: Type.Optional(
      Type.String({ description: "The e-mail address of a user. It is left out for an API token." }),
    ),
    organizationId: Type.Optional({
      ...Id,
      description:
        "The organization to which an API token or an OAuth client belongs. It is left out for other callers.",
    }),
    clientId: Type.Optional(
      Type.String({
        description: "The OAuth client through which a user calls. It is left out for other callers.",
      }),
    ),
    permissions: Type.Optional(
      Type.Array(PermissionSchema, {
        description:
          "The permissions of an API token, including those that others imply. They are left out for a user.",
      }),
    ),
    boundTo: Type.Optional(BoundToSchema),
    expiresAt: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "The time at which the token of this request ends. For a secret that a rotation replaced, it is the time at which that secret ends.",
      }),
    ),
    tokenPrefix: Type.Optional(Type.String({ description: "The beginning of the token that you sent." })),
    sessionId: Type.Optional({
      ...Id,
      description: "The session of a user who signed in, as `ListSessions` names it. It is left out for other callers.",
    }),
  },
  { title: "Caller" },
);

export function whoAmIRoutes(app: App, { database }: ServerParts): void {
  app.get(
    "/whoami",
    {
      config: { bounds: { workflows: "unaffected", tags: "unaffected", jobEvent: "unaffected" } },
      schema: {
        operationId: "WhoAmI",
        "x-permission": "any",
        tags: ["service"],
        summary: "Get the caller",
        description:
          "The answer names the user or API token that the request acts for. For an API token, it also lists the permissions.",
        response: { 200: answer("The caller.", CallerSchema) },
      },
    },
    async (request): Promise<Static<typeof CallerSchema>> => {
      const { principal, organizationId, permissions: granted, bounds, token, sessionId, client } = request.caller;
      const { id, name } = principal;
      const presented = {
        ...(token !== undefined && { tokenPrefix: token.prefix }),
        ...(typeof token?.expiresAt === "number" && { expiresAt: toTime(token.expiresAt) }),
        ...(sessionId !== undefined && { sessionId }),
      };
      if (organizationId === undefined) {
        const [user] = await findUsers(database, [id]);
        return { type: "user", id, name, ...(user !== undefined && { email: user.email }), ...client, ...presented };
      }
      const allowed: Permission[] = permissions.filter((permission) => granted.has(permission));
      return {
        type: "apiToken",
        id,
        name,
        organizationId,
        permissions: allowed,
        ...renderBounds(bounds),
        ...presented,
      };
    },
  );
}
