import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { etagOfMember, leaveOrganization, removeMember, updateMember } from "../../management/organizations/members.ts";
import { findMember, listMembers, type Member } from "../../store/access/members.ts";
import { countApiTokensMadeBy } from "../../store/access/tokens.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findUsers } from "../../store/people/users.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { PreconditionHeaders } from "../door/precondition.ts";
import {
  answer,
  closed,
  Id,
  MemberParams,
  noContent,
  OrganizationParams,
  RoleName,
  RoleNames,
} from "../door/schemas.ts";

const MemberSchema = Type.Object(
  {
    userId: Id,
    email: Type.String(),
    displayName: Type.String(),
    roles: Type.Array(Type.String()),
    createdAt: Type.String({ format: "date-time", description: "The time at which the user became a member." }),
    apiTokenCount: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          "The number of API tokens of this organization that the member made, directly or by a token that they made, and that are not revoked. Expired tokens count too. Only GetMember returns it.",
      }),
    ),
  },
  { title: "Member" },
);

const path = "/organizations/:organizationId/members";

export function memberRoutes(app: App, parts: ServerParts): void {
  listMembersRoute(app, parts);
  getMemberRoute(app, parts);
  updateMemberRoute(app, parts);
  removeMemberRoute(app, parts);
  leaveOrganizationRoute(app, parts);
}

function listMembersRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      schema: {
        operationId: "ListMembers",
        "x-permission": "member:read",
        tags: ["members"],
        summary: "List members",
        description: "The answer lists the members in the order of their user ids.",
        params: OrganizationParams,
        querystring: closed({
          role: Type.Optional({ ...RoleName, description: "A role, to get only members who have it." }),
          ...shortListParameters,
        }),
        response: {
          200: Type.Object({ members: Type.Array(MemberSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOfShortList(request);
      const role = request.query.role ?? null;
      const found = await listMembers(database, request.params.organizationId, {
        afterUserId: page.after,
        limit: page.limit,
        role,
      });
      const { rows, ...next } = page.cut(found, (member) => member.userId);
      return { members: await renderMembers(database, rows), ...next };
    },
  );
}

function getMemberRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    `${path}/:userId`,
    {
      schema: {
        operationId: "GetMember",
        "x-permission": "member:read",
        tags: ["members"],
        summary: "Get a member",
        description:
          "The answer has the name and the roles of the member, and the number of API tokens that they made and that are not revoked.",
        params: MemberParams,
        response: { 200: answer("The member.", MemberSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId, userId } = request.params;
      const member = await renderMember(database, await findMember(database, organizationId, userId));
      reply.header("etag", etagOfMember(member));
      return { ...member, apiTokenCount: await countApiTokensMadeBy(database, organizationId, userId) };
    },
  );
}

function updateMemberRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.patch(
    `${path}/:userId`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "UpdateMember",
        "x-permission": "member:update",
        tags: ["members"],
        summary: "Change a member's roles",
        description:
          "The change takes effect on every node within a second. You must have every permission that the member has, before and after the change. The last owner of an organization stays an owner.",
        params: MemberParams,
        headers: PreconditionHeaders,
        body: closed({ roles: RoleNames }),
        response: { 200: answer("The member as they are now.", MemberSchema) },
      },
    },
    async (request, reply) => {
      const changed = await updateMember(parts, callerActOf(request), request.params, request.body.roles);
      reply.header("etag", etagOfMember(changed));
      return await renderMember(database, changed);
    },
  );
}

function removeMemberRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:userId`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "RemoveMember",
        "x-permission": "member:remove",
        tags: ["members"],
        summary: "Remove a member",
        description:
          "The change takes effect on every node within a second. You must have every permission that the member has. The last owner cannot be removed. API tokens that the member made stay valid unless `revokeApiTokens` is true; GetMember counts them.",
        params: MemberParams,
        headers: PreconditionHeaders,
        querystring: closed({
          revokeApiTokens: Type.Optional(
            Type.Boolean({
              default: false,
              description:
                "True to revoke also the API tokens of this organization that the member made, directly or by a token that they made. This needs `apitoken:revoke` and every permission of those tokens.",
            }),
          ),
        }),
        response: { 204: noContent("The person is not a member any more.") },
      },
    },
    async (request, reply) => {
      const removal = { ...request.params, revokesApiTokens: request.query.revokeApiTokens };
      await removeMember(parts, callerActOf(request), removal);
      return reply.code(204).send(null);
    },
  );
}

function leaveOrganizationRoute(app: App, parts: ServerParts): void {
  app.post(
    `${path}/me/leave`,
    {
      config: { errors: ["ConflictError"], repetition: "not-found" },
      schema: {
        operationId: "LeaveOrganization",
        "x-permission": "any",
        tags: ["members"],
        summary: "Leave an organization",
        description:
          "Every member except the last owner may leave. A repetition is answered with 404, because a person who left has no access to the organization any more. So the operation takes no Idempotency-Key.",
        params: OrganizationParams,
        response: { 204: noContent("You are not a member any more.") },
      },
    },
    async (request, reply) => {
      await leaveOrganization(parts, callerActOf(request), request.params.organizationId);
      return reply.code(204).send(null);
    },
  );
}

async function renderMember(db: Queryable, member: Member | undefined): Promise<Static<typeof MemberSchema>> {
  const [rendered] = member === undefined ? [] : await renderMembers(db, [member]);
  if (rendered === undefined) throw notFound("member");
  return rendered;
}

/** A second statement looks up the names, because a statement of one organization cannot read the table of users (see `Scope`). */
async function renderMembers(db: Queryable, members: readonly Member[]): Promise<Static<typeof MemberSchema>[]> {
  const users = await findUsers(
    db,
    members.map((member) => member.userId),
  );
  const byId = new Map(users.map((user) => [user.userId, user]));
  return members.flatMap(({ userId, roles, createdAt }) => {
    const user = byId.get(userId);
    if (user === undefined) return [];
    const { email, displayName } = user;
    return [{ userId, email, displayName, roles: [...roles], createdAt: toTime(createdAt) }];
  });
}
