import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { actorOf } from "../../auth/authenticator.ts";
import { issuePasswordLink, passwordLinkHours, passwordLinkUrl } from "../../auth/passwords/password-link.ts";
import { organizationIdsOf } from "../../auth/permissions/own-organizations.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { requireRolesHeld } from "../../management/act/grants.ts";
import { findMember } from "../../store/access/members.ts";
import type { Transaction } from "../../store/home/database.ts";
import { insertAccountActivity } from "../../store/people/account-activity.ts";
import { findCredentials } from "../../store/people/user-credentials.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf } from "../door/client-address.ts";
import { lockGrantsFor, recordAudit, transactAnew } from "../door/request-acts.ts";
import { answer, MemberParams, Time } from "../door/schemas.ts";

const PasswordLinkSchema = Type.Object(
  {
    link: Type.String({
      description: "Give it to the member on a way that nobody else can read. It is shown this once and kept nowhere.",
    }),
    expiresAt: Time,
  },
  { title: "PasswordLink" },
);

export function memberPasswordLinkRoutes(app: App, parts: ServerParts): void {
  const { engine, publicUrl } = parts;

  app.post(
    "/organizations/:organizationId/members/:userId/password-link",
    {
      config: { repetition: "renewed" },
      schema: {
        operationId: "CreatePasswordLink",
        "x-permission": "member:update",
        tags: ["members"],
        summary: "Make a link that sets a member's password",
        description: `For who forgot theirs (it lives ${passwordLinkHours.reset} hour) or has none yet (${passwordLinkHours.first} hours). It works once, and ends the link before it. You must hold all that the member may do, and the member must be in no other organization, now and when the link is used: nobody takes over an account there. It takes no Idempotency-Key, since the link is shown only once.`,
        params: MemberParams,
        response: { 201: answer("The link.", PasswordLinkSchema) },
      },
    },
    async (request, reply) => {
      const { organizationId, userId } = request.params;
      const createdAt = engine.now();
      // A new link ends the one before by itself.
      const issued = await transactAnew(parts, request, { organizationId }, async (transaction) => {
        await requireMayReset(transaction, request, userId);
        const credentials = await findCredentials(transaction, userId);
        if (credentials === undefined) throw notFound("member");
        const kind = credentials.passwordHash === null ? "first" : "reset";
        const createdBy = actorOf(request.caller);
        const link = await issuePasswordLink(transaction, { userId, kind, createdBy, createdAt });
        const activity = { userId, activityId: engine.newId(), happenedAt: createdAt, address: addressOf(request) };
        const details = { by: request.caller.principal.id };
        await insertAccountActivity(transaction, { ...activity, action: "password-link-made", details });
        await recordAudit(transaction, request, { targetType: "member", targetId: userId, details: { kind } });
        return { made: {}, answer: link };
      });
      const link = passwordLinkUrl(publicUrl(), issued.secret);
      return reply.code(201).send({ link, expiresAt: toTime(issued.expiresAt) });
    },
  );
}

/** Who sets somebody's password can be that person. */
async function requireMayReset(transaction: Transaction, request: FastifyRequest, userId: string): Promise<void> {
  const { organizationId } = request.params as { readonly organizationId: string };
  const { principal } = request.caller;
  const granted = await lockGrantsFor(transaction, request);
  const member = await findMember(transaction, organizationId, userId);
  if (member === undefined) throw notFound("member");
  await requireRolesHeld(transaction, organizationId, granted, member.roles);
  if (principal.type !== "user")
    throw refused("Only a person may make such a link: an account can do what no API token can.");
  if (principal.id === userId)
    throw refused("Your own password you change with ChangePassword, which asks for the present one.");
  const organizationIds = await organizationIdsOf(transaction, userId);
  if (organizationIds.some((id) => id !== organizationId)) {
    throw refused(
      "This person is a member of other organizations too, and their account is not yours to open. Whoever runs the service can make a link: `stepwell user reset-link`.",
    );
  }
}

function refused(detail: string): ServiceError {
  return new ServiceError("AuthorizationError", detail);
}
