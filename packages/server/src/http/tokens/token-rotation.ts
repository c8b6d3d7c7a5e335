import { Type } from "typebox";
import { createToken } from "../../auth/credentials/token-form.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { type ApiToken, lockApiToken, replaceLostSecret, rotateApiToken } from "../../store/access/tokens.ts";
import type { App, ServerParts } from "../door/app.ts";
import { lockGrantsFor, recordAudit, transactAnew } from "../door/request-acts.ts";
import { answer, closed, TokenParams } from "../door/schemas.ts";
import { RotatedApiTokenSchema, renderToken } from "./render-token.ts";

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

export function tokenRotationRoutes(app: App, parts: ServerParts): void {
  const { engine, authenticator } = parts;

  app.post(
    "/organizations/:organizationId/api-tokens/:tokenId/rotate",
    {
      config: { repetition: "renewed" },
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
      const scope = { organizationId };
      const { rotated, ended } = await transactAnew(parts, request, scope, async (transaction, earlier?: Rotation) => {
        const granted = await lockGrantsFor(transaction, request);
        const found = await lockApiToken(transaction, organizationId, tokenId);
        if (found === undefined) throw notFound("API token");
        const { tokenHash: endingHash, previousTokenHash: endedHash, ...current } = found;
        requireAll(granted, current.permissions);
        const rotatedAt = engine.now();
        // The secret that nobody received ends; the one before it, which programs use, goes on as the first attempt promised.
        const isLost = earlier !== undefined && earlier.rotatedAt === current.rotatedAt;
        const previousExpiresAt = isLost
          ? (current.previousExpiresAt ?? rotatedAt)
          : Math.min(rotatedAt + overlapMs, current.expiresAt ?? Number.POSITIVE_INFINITY);
        const rotated: ApiToken = { ...current, tokenPrefix, rotatedAt, previousExpiresAt, updatedAt: rotatedAt };
        await (isLost ? replaceLostSecret : rotateApiToken)(transaction, rotated, tokenHash);
        const details = { previousExpiresAt: toTime(previousExpiresAt), ...(isLost && { lostSecretEnded: true }) };
        await recordAudit(transaction, request, { targetType: "apiToken", targetId: tokenId, details });
        return { made: { rotatedAt }, answer: { rotated, ended: [endingHash, endedHash] } };
      });
      for (const earlierHash of ended) if (earlierHash !== null) authenticator.forgetToken(earlierHash);
      return { ...renderToken(rotated), token };
    },
  );
}

/** The rotation of an earlier attempt, whose answer was lost. */
type Rotation = { readonly rotatedAt: Timestamp };
