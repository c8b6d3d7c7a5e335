import { Type } from "typebox";
import { createToken } from "../auth/token-form.ts";
import { notFound } from "../core/service-error.ts";
import { type ApiToken, lockApiToken, rotateApiToken } from "../store/tokens.ts";
import type { App, ServerParts } from "./app.ts";
import { recordAudit } from "./audit-trail.ts";
import { requireAll } from "./authorization.ts";
import { lockGrantsFor } from "./grants.ts";
import { RotatedApiTokenSchema, renderToken } from "./render-token.ts";
import { answer, closed, TokenParams } from "./schemas.ts";
import { toTime } from "./time.ts";

const defaultOverlapSeconds = 3_600;
const maxOverlapSeconds = 7 * 24 * 3_600;

const RotationBody = Type.Unsafe<{ overlapSeconds?: number } | null>({
  ...closed({
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxOverlapSeconds,
        default: defaultOverlapSeconds,
        description: "How long the secret that the token has now still holds beside the new one.",
      }),
    ),
  }),
  type: ["object", "null"],
  "x-optional-body": true,
});

export function tokenRotationRoutes(app: App, { engine, database, authenticator }: ServerParts): void {
  app.post(
    "/organizations/:organizationId/api-tokens/:tokenId/rotate",
    {
      schema: {
        operationId: "RotateApiToken",
        "x-permission": "apitoken:update",
        tags: ["api-tokens"],
        summary: "Give an API token a new secret",
        description:
          "It stays the same token, with the same id, permissions, bounds and expiry. The secret that it had holds for `overlapSeconds` more, so that programs can be changed over one by one; a secret from a rotation before ends at once. The answer holds the new secret, this once; therefore it takes no Idempotency-Key: when the answer was lost, rotate again with the secret that still holds. You must hold all that the token may do.",
        params: TokenParams,
        body: RotationBody,
        response: { 200: answer("The token, with its new secret.", RotatedApiTokenSchema) },
      },
    },
    async (request) => {
      const { organizationId, tokenId } = request.params;
      const overlapMs = (request.body?.overlapSeconds ?? defaultOverlapSeconds) * 1_000;
      const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
      const { rotated, ended } = await database.transaction(async (transaction) => {
        const granted = await lockGrantsFor(transaction, request);
        const found = await lockApiToken(transaction, organizationId, tokenId);
        if (found === undefined) throw notFound("API token");
        const { tokenHash: endingHash, previousTokenHash: endedHash, ...current } = found;
        requireAll(granted, current.permissions);
        const rotatedAt = engine.now();
        const previousExpiresAt = Math.min(rotatedAt + overlapMs, current.expiresAt ?? Number.POSITIVE_INFINITY);
        const rotated: ApiToken = { ...current, tokenPrefix, rotatedAt, previousExpiresAt, updatedAt: rotatedAt };
        await rotateApiToken(transaction, rotated, tokenHash);
        const details = { previousExpiresAt: toTime(previousExpiresAt) };
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return { rotated, ended: [endingHash, endedHash] };
      });
      for (const earlierHash of ended) if (earlierHash !== null) authenticator.forgetToken(earlierHash);
      return { ...renderToken(rotated), token };
    },
  );
}
