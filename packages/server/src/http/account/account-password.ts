import { Type } from "typebox";
import { changePassword } from "../../management/account/password.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { closed, noContent } from "../door/schemas.ts";

/**
 * The schemas of passwords have no length limits, because a schema counts the characters of the text as it was sent. The rules for passwords count
 * the characters of the normalized text, and report what is too long or too short.
 */
export const PasswordSchema = Type.String({ description: "Your password, as a confirmation." });

export const CodeSchema = Type.String({
  maxLength: 64,
  description:
    "A code of your authenticator app, or a recovery code. It is needed when the account has a second factor.",
});

export function accountPasswordRoutes(app: App, parts: ServerParts): void {
  app.post(
    "/account/password",
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "replayed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "ChangePassword",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Change your password",
        description:
          "The new password has 12 to 256 characters of any kind. All your other sessions end, and so do your other user tokens unless `keepUserTokens` is true. The session or token that you call with stays valid. If you forgot the password, ask an owner of your organization for a link with which you can set a new one. If you belong to several organizations, ask the operator of the service.",
        body: closed({
          currentPassword: Type.String(),
          newPassword: Type.String(),
          code: Type.Optional(CodeSchema),
          keepUserTokens: Type.Optional(
            Type.Boolean({
              description:
                "True to keep your user tokens valid. If it is left out, they end, because somebody who knew the password may have created some.",
            }),
          ),
        }),
        response: { 204: noContent("The password is changed.") },
      },
    },
    async (request, reply) => {
      const { currentPassword, newPassword, code, keepUserTokens } = request.body;
      await changePassword(parts, callerActOf(request), { currentPassword, newPassword, code, keepUserTokens });
      return reply.code(204).send(null);
    },
  );
}
