import { Type } from "typebox";
import { passwordLinkHours, passwordLinkUrl } from "../../auth/passwords/password-link.ts";
import { toTime } from "../../core/time.ts";
import { createPasswordLink } from "../../management/organizations/member-password-link.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, MemberParams, Time } from "../door/schemas.ts";

const PasswordLinkSchema = Type.Object(
  {
    link: Type.String({
      description:
        "The link. Give it to the member in such a way that nobody else can read it. It is shown only in this answer and stored nowhere.",
    }),
    expiresAt: Time,
  },
  { title: "PasswordLink" },
);

export function memberPasswordLinkRoutes(app: App, parts: ServerParts): void {
  createPasswordLinkRoute(app, parts);
}

function createPasswordLinkRoute(app: App, parts: ServerParts): void {
  const { publicUrl } = parts;
  app.post(
    "/organizations/:organizationId/members/:userId/password-link",
    {
      config: { repetition: "renewed" },
      schema: {
        operationId: "CreatePasswordLink",
        "x-permission": "member:update",
        tags: ["members"],
        summary: "Make a link that sets a member's password",
        description: `The link is for a member who forgot their password (it then works for ${passwordLinkHours.reset} hour) or has none yet (${passwordLinkHours.first} hours). It works once, and earlier links stop working. It ends no later than the token that you call with. You must have every permission that the member has. The member must not belong to another organization, either now or when the link is used, because the link would also open the other organization to you. The operation takes no Idempotency-Key, since the link is shown only once.`,
        params: MemberParams,
        response: { 201: answer("The link.", PasswordLinkSchema) },
      },
    },
    async (request, reply) => {
      const issued = await createPasswordLink(parts, callerActOf(request), request.params);
      const link = passwordLinkUrl(publicUrl(), issued.secret);
      return reply.code(201).send({ link, expiresAt: toTime(issued.expiresAt) });
    },
  );
}
