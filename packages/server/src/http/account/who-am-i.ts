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
    email: Type.Optional(Type.String({ description: "Only for a user." })),
    organizationId: Type.Optional({
      ...Id,
      description: "Only for an API token and an OAuth client: the organization that they belong to.",
    }),
    clientId: Type.Optional(
      Type.String({
        description: "Only for a user who calls through an OAuth client of an organization: that client.",
      }),
    ),
    permissions: Type.Optional(
      Type.Array(PermissionSchema, {
        description: "Only for an API token: everything that it may do there, with what its permissions imply.",
      }),
    ),
    boundTo: Type.Optional(BoundToSchema),
    expiresAt: Type.Optional(
      Type.String({
        format: "date-time",
        description: "When the token that you sent ends. For a secret that was rotated away: when that secret ends.",
      }),
    ),
    tokenPrefix: Type.Optional(Type.String({ description: "The beginning of the token that you sent." })),
    sessionId: Type.Optional({
      ...Id,
      description: "Only for a user who signed in: the session, as `ListSessions` names it.",
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
        summary: "Say who is calling",
        description: "Tells as whom the token that you send lets you act, and what it allows.",
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
