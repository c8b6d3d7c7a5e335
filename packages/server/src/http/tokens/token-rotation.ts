import { Type } from "typebox";
import { rotateApiToken } from "../../management/tokens/token-rotation.ts";
import { callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
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
        description: "The number of seconds for which the present secret stays valid beside the new one.",
      }),
    ),
  }),
  type: ["object", "null"],
  "x-optional-body": true,
});

export function tokenRotationRoutes(app: App, parts: ServerParts): void {
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
          "The token keeps its id, permissions, bounds and expiry. Its earlier secret stays valid for `overlapSeconds` more, so that you can change programs one by one. If an even earlier secret is still valid, it ends at once. The new secret is shown only in this answer, so the operation takes no Idempotency-Key. Send an `amz-sdk-invocation-id` instead. If the answer is lost, send the request again with the same id: then only the lost secret ends. If you sent it with another id, or with none, the secret that your programs still use would end instead. The earlier secret works during its overlap, but cannot change the organization, its tokens, members, roles, invitations or OAuth clients. You must have every permission of the token. If you call with another token, it must not expire before this one.",
        params: TokenParams,
        body: RotationBody,
        response: { 200: answer("The token, with its new secret.", RotatedApiTokenSchema) },
      },
    },
    async (request) => {
      const overlapMs = (request.body?.overlapSeconds ?? defaultOverlapSeconds) * 1_000;
      const { rotated, token } = await rotateApiToken(parts, callerActOf(request), request.params, overlapMs);
      return { ...renderToken(rotated), token };
    },
  );
}
