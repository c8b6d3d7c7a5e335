import { Type } from "typebox";
import type { ConfirmedUser } from "../auth/credential-check.ts";
import {
  disableSecondFactor,
  enableSecondFactor,
  isNotEnabled,
  renewRecoveryCodes,
  startSecondFactor,
} from "../auth/second-factor-change.ts";
import { CodeSchema, PasswordSchema } from "./account-password.ts";
import type { App, ServerParts } from "./app.ts";
import { addressOf } from "./client-address.ts";
import { answer, closed, noContent } from "./schemas.ts";

const NewSecondFactorSchema = Type.Object(
  {
    secret: Type.String({ description: "In base32, to be typed into an authenticator app." }),
    uri: Type.String({ description: "The same as an `otpauth://` address, to be shown as a QR code." }),
  },
  { title: "NewSecondFactor" },
);

const RecoveryCodesSchema = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String(), {
      description:
        "Each lets in once instead of a code of the app. They are shown this once: keep them apart from the app.",
    }),
  },
  { title: "RecoveryCodes" },
);

const proof = closed({ password: PasswordSchema, code: CodeSchema });

export function accountSecondFactorRoutes(app: App, { engine, database, signIn, secrets }: ServerParts): void {
  const parts = { database, secrets, now: () => engine.now(), newId: () => engine.newId() };

  app.post(
    "/account/second-factor",
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["ConflictError", "RateLimitError"] },
      schema: {
        operationId: "StartSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Start a second factor",
        description:
          "The answer holds the secret for an authenticator app (TOTP: SHA-1, 6 digits, 30 seconds). It counts once ConfirmSecondFactor has seen a code.",
        body: closed({ password: PasswordSchema }),
        response: { 200: answer("The secret.", NewSecondFactorSchema) },
      },
    },
    async (request) => {
      const { email } = await confirm(request, request.body.password, undefined);
      return await startSecondFactor(parts, { ...ownerOf(request), email });
    },
  );

  app.post(
    "/account/second-factor/confirm",
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["ConflictError"] },
      schema: {
        operationId: "ConfirmSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Put a second factor in force",
        description: "From now on each sign-in with your password needs a code as well.",
        body: closed({ code: CodeSchema }),
        response: { 200: answer("The recovery codes.", RecoveryCodesSchema) },
      },
    },
    async (request) => {
      const recoveryCodes = await enableSecondFactor(parts, ownerOf(request), request.body.code);
      return { recoveryCodes: [...recoveryCodes] };
    },
  );

  app.post(
    "/account/second-factor/disable",
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["ConflictError", "RateLimitError"] },
      schema: {
        operationId: "DisableSecondFactor",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Remove your second factor",
        body: proof,
        response: { 204: noContent("The password alone lets in again.") },
      },
    },
    async (request, reply) => {
      await confirmWithCode(request, request.body.password, request.body.code);
      await disableSecondFactor(parts, ownerOf(request));
      return reply.code(204).send(null);
    },
  );

  app.post(
    "/account/recovery-codes",
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["ConflictError", "RateLimitError"] },
      schema: {
        operationId: "RenewRecoveryCodes",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Get new recovery codes",
        description: "Those before hold no longer.",
        body: proof,
        response: { 200: answer("The recovery codes.", RecoveryCodesSchema) },
      },
    },
    async (request) => {
      await confirmWithCode(request, request.body.password, request.body.code);
      return { recoveryCodes: [...(await renewRecoveryCodes(parts, ownerOf(request)))] };
    },
  );

  function confirm(request: Asking, password: string, code: string | undefined): Promise<ConfirmedUser> {
    return signIn.confirm({ ...ownerOf(request), password, code, passwordPointer: "/password" });
  }

  async function confirmWithCode(request: Asking, password: string, code: string): Promise<void> {
    const { totpEnabledAt } = await confirm(request, password, code);
    if (totpEnabledAt === null) throw isNotEnabled();
  }
}

interface Asking {
  readonly caller: { readonly principal: { readonly id: string } };
  readonly ip: string;
}

function ownerOf({ caller, ip }: Asking) {
  return { userId: caller.principal.id, address: addressOf({ ip }) };
}
