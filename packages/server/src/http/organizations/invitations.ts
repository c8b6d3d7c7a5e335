import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { actorOf } from "../../auth/authenticator.ts";
import { joinByInvitation, openInvitation } from "../../auth/credentials/invitations.ts";
import { createInvitationCode } from "../../auth/credentials/token-form.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { sentence } from "../../core/problem.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { parseTime, toTime } from "../../core/time.ts";
import { lockGrants, pointerToRole, requireGrantableRoles } from "../../management/act/grants.ts";
import {
  countOpenInvitations,
  findInvitation,
  type Invitation,
  insertInvitation,
  listInvitations,
  revokeInvitation,
} from "../../store/access/invitations.ts";
import type { Transaction } from "../../store/home/database.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { lockGrantsFor, recordAudit, transactAnew, transactOnce } from "../door/request-acts.ts";
import {
  ActorSchema,
  answer,
  closed,
  Id,
  InvitationParams,
  noContent,
  OrganizationParams,
  oneOf,
  RoleName,
  RoleNames,
  Time,
} from "../door/schemas.ts";

const invitationFields = {
  invitationId: Id,
  roles: Type.Array(Type.String()),
  email: Type.Optional(Type.String({ description: "Who it is for. Left out: for whoever has the link." })),
  createdBy: ActorSchema,
  createdAt: Time,
  expiresAt: Time,
};

const InvitationSchema = Type.Object(
  {
    ...invitationFields,
    status: oneOf(["open", "accepted", "expired"]),
    acceptedAt: Type.Optional(Time),
    acceptedBy: Type.Optional(Type.String({ format: "uuid", description: "The user who became a member by it." })),
  },
  { title: "Invitation" },
);

const NewInvitationSchema = Type.Object(
  {
    ...invitationFields,
    link: Type.String({ description: "The page on which it is accepted. Shown this once and kept nowhere." }),
    code: Type.String({
      description: "The link's end: what AcceptInvitation takes. Shown this once and kept nowhere.",
    }),
  },
  { title: "NewInvitation" },
);

const AcceptedInvitationSchema = Type.Object(
  { organizationId: Id, roles: Type.Array(Type.String()) },
  { title: "AcceptedInvitation" },
);

const path = "/organizations/:organizationId/invitations";

export function invitationRoutes(app: App, parts: ServerParts): void {
  const { engine, database, config, authenticator, basePath, publicUrl } = parts;

  app.post(
    path,
    {
      config: { errors: ["ConflictError"], repetition: "renewed" },
      schema: {
        operationId: "CreateInvitation",
        "x-permission": "invitation:create",
        tags: ["invitations"],
        summary: "Invite somebody",
        description:
          "You must hold all that the roles permit, now and when the invitation is accepted. The answer holds the link, this once. Therefore it takes no Idempotency-Key: when the answer was lost, revoke the invitation and create another.",
        params: OrganizationParams,
        body: closed({
          roles: Type.Optional(RoleNames),
          role: Type.Optional({ ...RoleName, description: "Instead of `roles`, when there is one." }),
          email: Type.Optional(
            Type.String({
              format: "email",
              maxLength: maxEmailLength,
              description: "Only a user with this address can accept it. Left out: whoever has the link.",
            }),
          ),
          expiresAt: Type.Optional(
            Type.String({
              format: "date-time",
              description: `At most ${config.maxInvitationDays} days from now. Left out: in ${defaultDays} days.`,
            }),
          ),
        }),
        response: { 201: answer("The invitation.", NewInvitationSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { email = null } = request.body;
      const { roles, pointerOf } = rolesIn(request.body);
      const createdAt = engine.now();
      const expiresAt = expiryOf(request.body.expiresAt, createdAt, config.maxInvitationDays);
      const { code, codeHash } = createInvitationCode(organizationId);
      const invitation: Invitation = {
        organizationId,
        invitationId: engine.newId(),
        email,
        roles,
        createdBy: actorOf(request.caller),
        createdAt,
        expiresAt,
        acceptedAt: null,
        acceptedBy: null,
      };
      const { invitationId } = invitation;
      await transactAnew(parts, request, { organizationId }, async (transaction, earlier?: Earlier) => {
        const granted = await lockGrantsFor(transaction, request);
        await endLostInvitation(transaction, request, earlier?.invitationId, invitation);
        await requireGrantableRoles(transaction, organizationId, granted, roles, pointerOf);
        const openCount = await countOpenInvitations(transaction, organizationId, createdAt);
        if (openCount >= config.maxOpenInvitations) throw tooManyOpen(config.maxOpenInvitations);
        await insertInvitation(transaction, invitation, codeHash);
        const details = { roles, email, expiresAt: toTime(expiresAt) };
        await recordAudit(transaction, request, { targetType: "invitation", targetId: invitationId, details });
        return { made: { invitationId }, answer: undefined };
      });
      const location = `${basePath}/organizations/${organizationId}/invitations/${invitationId}`;
      const link = `${publicUrl()}/invitations/${code}`;
      return reply
        .code(201)
        .header("location", location)
        .send({ ...renderFields(invitation), link, code });
    },
  );

  app.get(
    path,
    {
      schema: {
        operationId: "ListInvitations",
        "x-permission": "invitation:read",
        tags: ["invitations"],
        summary: "List invitations",
        description: "Newest first, without those that were revoked.",
        params: OrganizationParams,
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ invitations: Type.Array(InvitationSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOfShortList(request);
      const found = await listInvitations(database, request.params.organizationId, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (invitation) => invitation.invitationId);
      const now = engine.now();
      return { invitations: rows.map((invitation) => renderInvitation(invitation, now)), ...next };
    },
  );

  app.get(
    `${path}/:invitationId`,
    {
      schema: {
        operationId: "GetInvitation",
        "x-permission": "invitation:read",
        tags: ["invitations"],
        summary: "Get an invitation",
        params: InvitationParams,
        response: { 200: answer("All but the link.", InvitationSchema) },
      },
    },
    async (request) => {
      const { organizationId, invitationId } = request.params;
      const invitation = await findInvitation(database, organizationId, invitationId);
      if (invitation === undefined) throw notFound("invitation");
      return renderInvitation(invitation, engine.now());
    },
  );

  app.delete(
    `${path}/:invitationId`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "RevokeInvitation",
        "x-permission": "invitation:revoke",
        tags: ["invitations"],
        summary: "Revoke an invitation",
        description: "For good, and at once. A conflict when it was accepted: remove the member instead.",
        params: InvitationParams,
        response: { 204: noContent("It is revoked.") },
      },
    },
    async (request, reply) => {
      const { organizationId, invitationId } = request.params;
      await database.transaction(async (transaction) => {
        await lockGrants(transaction, organizationId);
        const invitation = await findInvitation(transaction, organizationId, invitationId);
        if (invitation === undefined) throw notFound("invitation");
        if (invitation.acceptedAt !== null) throw wasAccepted();
        await revokeInvitation(transaction, organizationId, invitationId, engine.now());
        const details = { roles: [...invitation.roles], email: invitation.email };
        await recordAudit(transaction, request, { targetType: "invitation", targetId: invitationId, details });
      });
      return reply.code(204).send(null);
    },
  );

  app.post(
    "/invitations/accept",
    {
      config: { errors: ["NotFoundError"] },
      schema: {
        operationId: "AcceptInvitation",
        "x-permission": "invitation:accept",
        tags: ["invitations"],
        summary: "Accept an invitation",
        description:
          "The caller becomes a member of the organization. It works once. An invitation that was revoked, has expired or never was is 404; one that was accepted, or whose maker may not grant its roles any more, is a conflict.",
        headers: IdempotencyHeaders,
        body: closed({
          invitation: Type.String({ maxLength: maxCodeLength, description: "The code: the end of the link." }),
        }),
        response: { 200: answer("Where you are a member now.", AcceptedInvitationSchema) },
      },
    },
    async (request) => {
      const userId = request.caller.principal.id;
      const accepted = await transactOnce(parts, request, { userId }, async (transaction, now) => {
        const invitation = await openInvitation(transaction, request.body.invitation, now);
        const [user] = await findUsers(transaction, [userId]);
        if (user === undefined) throw notFound("invitation");
        await joinByInvitation(transaction, invitation, user, now);
        const { organizationId, invitationId } = invitation;
        const roles = [...invitation.roles];
        const target = { targetType: "invitation", targetId: invitationId } as const;
        await recordAudit(transaction, request, { organizationId, ...target, details: { roles } });
        return { organizationId, roles };
      });
      authenticator.forgetAll();
      return accepted;
    },
  );
}

/** Revokes the invitation of an attempt whose answer was lost: nobody has its link. */
async function endLostInvitation(
  transaction: Transaction,
  request: FastifyRequest,
  lostId: string | undefined,
  { organizationId, invitationId: replacedBy, createdAt }: Invitation,
): Promise<void> {
  const lost = lostId && (await findInvitation(transaction, organizationId, lostId));
  if (!lost || lost.acceptedAt !== null) return;
  const { invitationId: targetId, roles, email } = lost;
  await revokeInvitation(transaction, organizationId, targetId, createdAt);
  const details = { roles: [...roles], email, replacedBy };
  const note = { targetType: "invitation", targetId, details, action: "RevokeInvitation" } as const;
  await recordAudit(transaction, request, note);
}

const defaultDays = 7;
const dayMs = 24 * 60 * 60 * 1_000;
/** RFC 5321. */
const maxEmailLength = 254;
const maxCodeLength = 200;

/** The roles that a body gives, as `roles` or as one `role`, with the pointer to each. */
function rolesIn({ role, roles }: { readonly role?: string; readonly roles?: string[] }) {
  if (role === undefined && roles !== undefined) return { roles, pointerOf: pointerToRole };
  if (role !== undefined && roles === undefined) return { roles: [role], pointerOf: () => "/role" };
  const problem =
    role === undefined
      ? { pointer: "/roles", detail: "is missing" }
      : { pointer: "/role", detail: "stands beside `roles`; give one of the two" };
  const message = sentence(`The body is not valid: ${problem.pointer} ${problem.detail}`);
  throw new ServiceError("ValidationError", message, { problems: [problem] });
}

function expiryOf(text: string | undefined, now: Timestamp, maxDays: number): Timestamp {
  if (text === undefined) return now + defaultDays * dayMs;
  const expiresAt = parseTime("expiresAt", text);
  const latest = now + maxDays * dayMs;
  if (expiresAt > now && expiresAt <= latest) return expiresAt;
  const detail = `must be in the future and at most ${maxDays} days from now: from ${toTime(now)} to ${toTime(latest)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}

function renderInvitation(invitation: Invitation, now: Timestamp): Static<typeof InvitationSchema> {
  const { acceptedAt, acceptedBy, expiresAt } = invitation;
  const fields = renderFields(invitation);
  if (acceptedAt !== null && acceptedBy !== null) {
    return { ...fields, status: "accepted", acceptedAt: toTime(acceptedAt), acceptedBy };
  }
  return { ...fields, status: expiresAt <= now ? "expired" : "open" };
}

function renderFields({ invitationId, roles, email, createdBy, createdAt, expiresAt }: Invitation) {
  return {
    invitationId,
    roles: [...roles],
    ...(email !== null && { email }),
    createdBy,
    createdAt: toTime(createdAt),
    expiresAt: toTime(expiresAt),
  };
}

function wasAccepted(): ServiceError {
  return new ServiceError("ConflictError", "This invitation was accepted already. Remove the member instead.");
}

function tooManyOpen(maxOpenInvitations: number): ServiceError {
  return new ServiceError(
    "ConflictError",
    `An organization has at most ${maxOpenInvitations} open invitations. Revoke some, or wait until they expire.`,
  );
}

/** The invitation of an earlier attempt, whose answer was lost. */
type Earlier = { readonly invitationId: string };
