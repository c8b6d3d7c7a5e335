import { type Static, Type } from "typebox";
import { invalidPart, notFound } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { parseTime, toTime } from "../../core/time.ts";
import { pointerToRole } from "../../management/act/grants.ts";
import { acceptInvitation } from "../../management/membership/invitation-acceptance.ts";
import {
  createInvitation,
  defaultInvitationDays,
  revokeInvitation,
} from "../../management/organizations/invitations.ts";
import { findInvitation, type Invitation, listInvitations } from "../../store/access/invitations.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { IdempotencyHeaders } from "../door/idempotency.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
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
  email: Type.Optional(
    Type.String({
      description:
        "The e-mail address of the person who can accept the invitation. It is left out for an invitation that anybody with the link can accept.",
    }),
  ),
  createdBy: ActorSchema,
  createdAt: Time,
  expiresAt: Time,
};

const InvitationSchema = Type.Object(
  {
    ...invitationFields,
    status: oneOf(["open", "accepted", "expired"]),
    acceptedAt: Type.Optional(Time),
    acceptedBy: Type.Optional(
      Type.String({ format: "uuid", description: "The user who became a member by this invitation." }),
    ),
  },
  { title: "Invitation" },
);

const NewInvitationSchema = Type.Object(
  {
    ...invitationFields,
    link: Type.String({
      description:
        "The address of the page on which a person accepts the invitation. It is shown only in this answer and stored nowhere.",
    }),
    code: Type.String({
      description:
        "The last part of the link, which AcceptInvitation takes as `invitation`. It is shown only in this answer and stored nowhere.",
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
  createInvitationRoute(app, parts);
  listInvitationsRoute(app, parts);
  getInvitationRoute(app, parts);
  revokeInvitationRoute(app, parts);
  acceptInvitationRoute(app, parts);
}

function createInvitationRoute(app: App, parts: ServerParts): void {
  const { config, basePath, publicUrl } = parts;
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
          "You must have every permission of the roles, now and when the invitation is accepted. The link is shown only in this answer, so the operation takes no Idempotency-Key. If the answer is lost, revoke the invitation and create another.",
        params: OrganizationParams,
        body: closed({
          roles: Type.Optional(RoleNames),
          role: Type.Optional({
            ...RoleName,
            description:
              "The role of the new member. You can use this field instead of `roles` if there is only one role.",
          }),
          email: Type.Optional(
            Type.String({
              format: "email",
              maxLength: maxEmailLength,
              description:
                "The e-mail address of the user who can accept the invitation. If it is left out, anybody who has the link can.",
            }),
          ),
          expiresAt: Type.Optional(
            Type.String({
              format: "date-time",
              description: `The time at which the invitation ends, at most ${config.maxInvitationDays} days from now. If it is left out, the invitation ends after ${defaultInvitationDays} days or at the end of the token that you call with, whichever is earlier. A time after the end of this token is rejected.`,
            }),
          ),
        }),
        response: { 201: answer("The invitation.", NewInvitationSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { email = null, expiresAt } = request.body;
      const end = expiresAt === undefined ? {} : { expiresAt: parseTime("expiresAt", expiresAt) };
      const asked = { organizationId, ...rolesIn(request.body), email, ...end };
      const { invitation, code } = await createInvitation(parts, callerActOf(request), asked);
      const location = `${basePath}/organizations/${organizationId}/invitations/${invitation.invitationId}`;
      const link = `${publicUrl()}/invitations/${code}`;
      return reply
        .code(201)
        .header("location", location)
        .send({ ...renderFields(invitation), link, code });
    },
  );
}

function listInvitationsRoute(app: App, parts: ServerParts): void {
  const { engine, database } = parts;
  app.get(
    path,
    {
      schema: {
        operationId: "ListInvitations",
        "x-permission": "invitation:read",
        tags: ["invitations"],
        summary: "List invitations",
        description:
          "The answer lists the invitations that were not revoked, the newest first: those that can still be accepted, and for some time also those that were accepted or have expired.",
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
}

function getInvitationRoute(app: App, parts: ServerParts): void {
  const { engine, database } = parts;
  app.get(
    `${path}/:invitationId`,
    {
      schema: {
        operationId: "GetInvitation",
        "x-permission": "invitation:read",
        tags: ["invitations"],
        summary: "Get an invitation",
        description: "The answer has the roles and the status of the invitation, without its link.",
        params: InvitationParams,
        response: { 200: answer("The invitation, without its link.", InvitationSchema) },
      },
    },
    async (request) => {
      const { organizationId, invitationId } = request.params;
      const invitation = await findInvitation(database, organizationId, invitationId);
      if (invitation === undefined) throw notFound("invitation");
      return renderInvitation(invitation, engine.now());
    },
  );
}

function revokeInvitationRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:invitationId`,
    {
      config: { errors: ["ConflictError"] },
      schema: {
        operationId: "RevokeInvitation",
        "x-permission": "invitation:revoke",
        tags: ["invitations"],
        summary: "Revoke an invitation",
        description:
          "The invitation ends for good and at once. If the invitation was accepted already, the answer is 409: remove the member instead.",
        params: InvitationParams,
        response: { 204: noContent("The invitation is revoked.") },
      },
    },
    async (request, reply) => {
      await revokeInvitation(parts, callerActOf(request), request.params);
      return reply.code(204).send(null);
    },
  );
}

function acceptInvitationRoute(app: App, parts: ServerParts): void {
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
          "The caller becomes a member of the organization. An invitation works once. If it was revoked, has expired or never existed, the answer is 404. If it was accepted already, or if its maker may not grant its roles any more, the answer is 409.",
        headers: IdempotencyHeaders,
        body: closed({
          invitation: Type.String({
            maxLength: maxCodeLength,
            description: "The code of the invitation, which is the last part of its link.",
          }),
        }),
        response: { 200: answer("The organization of which you are a member now.", AcceptedInvitationSchema) },
      },
    },
    async (request) => {
      return await acceptInvitation(parts, callerActOf(request), request.body.invitation);
    },
  );
}

/** An e-mail address is never longer (RFC 5321). */
const maxEmailLength = 254;
const maxCodeLength = 200;

/** Returns the roles of a body, given as `roles` or as one `role`, with the pointer to each. */
function rolesIn({ role, roles }: { readonly role?: string; readonly roles?: string[] }) {
  if (role === undefined && roles !== undefined) return { roles, pointerOf: pointerToRole };
  if (role !== undefined && roles === undefined) return { roles: [role], pointerOf: () => "/role" };
  const problem =
    role === undefined
      ? { pointer: "/roles", detail: "is missing" }
      : { pointer: "/role", detail: "cannot be used together with `roles`; give only one of the two" };
  throw invalidPart("body", [problem]);
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
