import { type Static, Type } from "typebox";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { changesOf } from "../../management/act/audit-trail.ts";
import { lockGrants, requireGrantableRoles, requireRolesHeld } from "../../management/act/grants.ts";
import {
  deleteMember,
  findMember,
  hasMemberWithRole,
  listMembers,
  type Member,
  updateMemberRoles,
} from "../../store/access/members.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { lockGrantsFor, recordAudit } from "../door/request-acts.ts";
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
    createdAt: Type.String({ format: "date-time", description: "When they became a member." }),
  },
  { title: "Member" },
);

const path = "/organizations/:organizationId/members";

export function memberRoutes(app: App, { database, authenticator }: ServerParts): void {
  app.get(
    path,
    {
      schema: {
        operationId: "ListMembers",
        "x-permission": "member:read",
        tags: ["members"],
        summary: "List members",
        description: "By user id.",
        params: OrganizationParams,
        querystring: closed({
          role: Type.Optional({ ...RoleName, description: "Only members with this role." }),
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

  app.get(
    `${path}/:userId`,
    {
      schema: {
        operationId: "GetMember",
        "x-permission": "member:read",
        tags: ["members"],
        summary: "Get a member",
        params: MemberParams,
        response: { 200: answer("The member.", MemberSchema) },
      },
    },
    async (request) => {
      const { organizationId, userId } = request.params;
      return await renderMember(database, await findMember(database, organizationId, userId));
    },
  );

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
          "Holds on every node within a second. You must hold all that the member may do, before and afterwards. The last owner stays one.",
        params: MemberParams,
        body: closed({ roles: RoleNames }),
        response: { 200: answer("The member as they are now.", MemberSchema) },
      },
    },
    async (request) => {
      const { organizationId, userId } = request.params;
      const { roles } = request.body;
      const changed = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const member = await findMember(transaction, organizationId, userId);
        if (member === undefined) throw notFound("member");
        await requireGrantableRoles(transaction, organizationId, granted, roles);
        await requireRolesHeld(transaction, organizationId, granted, member.roles);
        if (!roles.includes("owner")) await requireOtherOwner(transaction, member);
        const changed = { ...member, roles };
        await updateMemberRoles(transaction, changed);
        const details = changesOf({ roles: [...member.roles] }, { roles });
        await recordAudit(transaction, request, { targetType: "member", targetId: userId, details });
        return changed;
      });
      authenticator.forgetAll();
      return await renderMember(database, changed);
    },
  );

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
          "Holds on every node within a second. You must hold all that the member may do. The last owner cannot be removed. API tokens that they made go on: revoke those too if they must not.",
        params: MemberParams,
        response: { 204: noContent("They are no member any more.") },
      },
    },
    async (request, reply) => {
      const { organizationId, userId } = request.params;
      await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const member = await findMember(transaction, organizationId, userId);
        if (member === undefined) throw notFound("member");
        await requireRolesHeld(transaction, organizationId, granted, member.roles);
        await requireOtherOwner(transaction, member);
        await deleteMember(transaction, organizationId, userId);
        const details = { roles: [...member.roles] };
        await recordAudit(transaction, request, { targetType: "member", targetId: userId, details });
      });
      authenticator.forgetAll();
      return reply.code(204).send(null);
    },
  );

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
          "Every member may, but the last owner. A repetition is answered with 404, since one who left has nothing to do with the organization any more; therefore it takes no Idempotency-Key.",
        params: OrganizationParams,
        response: { 204: noContent("You are no member any more.") },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { principal } = request.caller;
      if (principal.type !== "user") throw tokenCannotLeave();
      await database.transaction(async (transaction) => {
        await lockGrants(transaction, organizationId);
        const member = await findMember(transaction, organizationId, principal.id);
        if (member === undefined) throw notFound("organization");
        await requireOtherOwner(transaction, member);
        await deleteMember(transaction, organizationId, principal.id);
        const details = { roles: [...member.roles] };
        await recordAudit(transaction, request, { targetType: "member", targetId: principal.id, details });
      });
      authenticator.forgetAll();
      return reply.code(204).send(null);
    },
  );
}

/** An organization without an owner could never have one again. */
async function requireOtherOwner(transaction: Transaction, member: Member): Promise<void> {
  const { organizationId, userId, roles } = member;
  if (!roles.includes("owner")) return;
  if (await hasMemberWithRole(transaction, organizationId, "owner", userId)) return;
  throw new ServiceError(
    "ConflictError",
    "This is the organization's last owner. Make another member an owner first, or delete the organization.",
  );
}

async function renderMember(db: Queryable, member: Member | undefined): Promise<Static<typeof MemberSchema>> {
  const [rendered] = member === undefined ? [] : await renderMembers(db, [member]);
  if (rendered === undefined) throw notFound("member");
  return rendered;
}

/** Their names stand in a table of their own, which belongs to no organization. */
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

function tokenCannotLeave(): ServiceError {
  return new ServiceError(
    "AuthorizationError",
    "An API token is no member of its organization and cannot leave it. Revoke the token instead.",
  );
}
