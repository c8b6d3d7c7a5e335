import { Type } from "typebox";
import type { ConfirmedUser } from "../../auth/credentials/credential-check.ts";
import {
  disableSecondFactor,
  enableSecondFactor,
  isNotEnabled,
  renewRecoveryCodes,
  startSecondFactor,
} from "../../auth/passwords/second-factor-change.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf } from "../door/client-address.ts";
import { transactAnew, transactOnce } from "../door/request-acts.ts";
import { answer, closed, noContent } from "../door/schemas.ts";
import { CodeSchema, PasswordSchema } from "./account-password.ts";

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

export function accountSecondFactorRoutes(app: App, service: ServerParts): void {
  const { engine, signIn, secrets } = service;
  const parts = { secrets, now: () => engine.now(), newId: () => engine.newId() };

  app.post(
    "/account/second-factor",
    {
      config: {
        unaudited: "The account's own activity tells of it.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
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
      const owner = ownerOf(request);
      // A new secret ends the one before by itself.
      return await transactAnew(service, request, owner, async (transaction) => {
        return { made: {}, answer: await startSecondFactor(parts, transaction, { ...owner, email }) };
      });
    },
  );

  app.post(
    "/account/second-factor/confirm",
    {
      config: {
        unaudited: "The account's own activity tells of it.",
        repetition: "renewed",
        errors: ["ConflictError"],
      },
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
      const owner = ownerOf(request);
      const recoveryCodes = await transactAnew(service, request, owner, async (transaction, earlier) => {
        // The first attempt put the factor in force; its codes were lost.
        const answer =
          earlier === undefined
            ? await enableSecondFactor(parts, transaction, owner, request.body.code)
            : await renewRecoveryCodes(parts, transaction, owner);
        return { made: {}, answer };
      });
      return { recoveryCodes: [...recoveryCodes] };
    },
  );

  app.post(
    "/account/second-factor/disable",
    {
      config: {
        unaudited: "The account's own activity tells of it.",
        repetition: "replayed",
        errors: ["ConflictError", "RateLimitError"],
      },
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
      const owner = ownerOf(request);
      await transactOnce(
        service,
        request,
        owner,
        async (transaction) => {
          await disableSecondFactor(parts, transaction, owner);
          return {};
        },
        () => confirmWithCode(request, request.body.password, request.body.code),
      );
      return reply.code(204).send(null);
    },
  );

  app.post(
    "/account/recovery-codes",
    {
      config: {
        unaudited: "The account's own activity tells of it.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
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
      const owner = ownerOf(request);
      const recoveryCodes = await transactAnew(
        service,
        request,
        owner,
        async (transaction) => ({ made: {}, answer: await renewRecoveryCodes(parts, transaction, owner) }),
        () => confirmWithCode(request, request.body.password, request.body.code),
      );
      return { recoveryCodes: [...recoveryCodes] };
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
