import { Type } from "typebox";
import {
  confirmSecondFactor,
  disableSecondFactor,
  renewRecoveryCodes,
  startSecondFactor,
} from "../../management/account/second-factor.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, closed, noContent } from "../door/schemas.ts";
import { CodeSchema, PasswordSchema } from "./account-password.ts";

const NewSecondFactorSchema = Type.Object(
  {
    secret: Type.String({ description: "The secret in base32, to be typed into an authenticator app." }),
    uri: Type.String({ description: "The secret as an `otpauth://` address, to be shown as a QR code." }),
  },
  { title: "NewSecondFactor" },
);

const RecoveryCodesSchema = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String(), {
      description:
        "The recovery codes. Each code can be used once instead of a code of the app. The codes are shown only in this answer: keep them apart from the app.",
    }),
  },
  { title: "RecoveryCodes" },
);

/** While a second factor is being confirmed, the account has no recovery codes yet. */
const AppCodeSchema = Type.String({ maxLength: 64, description: "A code of your authenticator app." });
const proof = closed({ password: PasswordSchema, code: CodeSchema });

export function accountSecondFactorRoutes(app: App, parts: ServerParts): void {
  startSecondFactorRoute(app, parts);
  confirmSecondFactorRoute(app, parts);
  disableSecondFactorRoute(app, parts);
  renewRecoveryCodesRoute(app, parts);
}

function startSecondFactorRoute(app: App, parts: ServerParts): void {
  app.post(
    "/account/second-factor",
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "StartSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Start a second factor",
        description:
          "The answer has the secret for an authenticator app (TOTP with SHA-1, 6 digits and 30 seconds). The second factor takes effect once ConfirmSecondFactor has accepted a code.",
        body: closed({ password: PasswordSchema }),
        response: { 200: answer("The secret.", NewSecondFactorSchema) },
      },
    },
    async (request) => await startSecondFactor(parts, callerActOf(request), request.body.password),
  );
}

function confirmSecondFactorRoute(app: App, parts: ServerParts): void {
  app.post(
    "/account/second-factor/confirm",
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "ConfirmSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Confirm a second factor",
        description: "From now on, each sign-in with your password also needs a code.",
        body: closed({ code: AppCodeSchema }),
        response: { 200: answer("The recovery codes.", RecoveryCodesSchema) },
      },
    },
    async (request) => {
      return { recoveryCodes: [...(await confirmSecondFactor(parts, callerActOf(request), request.body.code))] };
    },
  );
}

function disableSecondFactorRoute(app: App, parts: ServerParts): void {
  app.post(
    "/account/second-factor/disable",
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "replayed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "DisableSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Remove your second factor",
        description: "From now on, your password alone is enough to sign in. All recovery codes stop working.",
        body: proof,
        response: { 204: noContent("The second factor is removed: the password alone is enough to sign in.") },
      },
    },
    async (request, reply) => {
      await disableSecondFactor(parts, callerActOf(request), request.body);
      return reply.code(204).send(null);
    },
  );
}

function renewRecoveryCodesRoute(app: App, parts: ServerParts): void {
  app.post(
    "/account/recovery-codes",
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "RenewRecoveryCodes",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Get new recovery codes",
        description: "The answer has new recovery codes. The earlier ones stop working.",
        body: proof,
        response: { 200: answer("The recovery codes.", RecoveryCodesSchema) },
      },
    },
    async (request) => {
      return { recoveryCodes: [...(await renewRecoveryCodes(parts, callerActOf(request), request.body))] };
    },
  );
}
