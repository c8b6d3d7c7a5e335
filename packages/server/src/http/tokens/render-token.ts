import { type Static, Type } from "typebox";
import { permissions } from "../../auth/permissions/permissions.ts";
import { boundsOf } from "../../auth/permissions/token-bounds.ts";
import { toTime } from "../../core/time.ts";
import type { ApiToken } from "../../store/access/tokens.ts";
import { BoundToSchema, renderBounds } from "../door/bound-to.ts";
import { ActorSchema, Id, PermissionSchema, Time } from "../door/schemas.ts";

const tokenFields = {
  tokenId: Id,
  apiAuthTokenId: Type.String({
    ...Id,
    description: "The same as `tokenId`, under another name that some clients use.",
  }),
  name: Type.String(),
  permissions: Type.Array(PermissionSchema),
  boundTo: Type.Optional(BoundToSchema),
  tokenPrefix: Type.String({ description: "The beginning of the token, to recognize it by." }),
  createdBy: ActorSchema,
  createdAt: Time,
  expiresAt: Type.Optional(Time),
};

const laterFields = {
  updatedAt: Time,
  lastUsedAt: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "The time at which the token was last used, with its present secret or the one before it, accurate to about a minute.",
    }),
  ),
  rotatedAt: Type.Optional(
    Type.String({
      format: "date-time",
      description:
        "The time of the last rotation, which gave the token its present secret. It is left out while the token has its first secret.",
    }),
  ),
  previousExpiresAt: Type.Optional(
    Type.String({
      format: "date-time",
      description: "The time at which the secret before the present one ends or ended.",
    }),
  ),
};

export const ApiTokenSchema = Type.Object({ ...tokenFields, ...laterFields }, { title: "ApiToken" });

export const NewApiTokenSchema = Type.Object(
  {
    ...tokenFields,
    token: Type.String({ description: "The token itself. It is shown only in this answer and stored nowhere." }),
  },
  { title: "NewApiToken" },
);

export const RotatedApiTokenSchema = Type.Object(
  {
    ...tokenFields,
    ...laterFields,
    token: Type.String({
      description: "The token with its new secret. It is shown only in this answer and stored nowhere.",
    }),
  },
  { title: "RotatedApiToken" },
);

export function renderToken(token: ApiToken): Static<typeof ApiTokenSchema> {
  const { tokenId, name, tokenPrefix, createdBy, createdAt, updatedAt } = token;
  const { expiresAt, lastUsedAt, rotatedAt, previousExpiresAt } = token;
  return {
    tokenId,
    apiAuthTokenId: tokenId,
    name,
    permissions: permissions.filter((permission) => token.permissions.includes(permission)),
    ...renderBounds(boundsOf(token)),
    tokenPrefix,
    createdBy,
    createdAt: toTime(createdAt),
    updatedAt: toTime(updatedAt),
    ...(expiresAt !== null && { expiresAt: toTime(expiresAt) }),
    ...(lastUsedAt !== null && { lastUsedAt: toTime(lastUsedAt) }),
    ...(rotatedAt !== null && { rotatedAt: toTime(rotatedAt) }),
    ...(previousExpiresAt !== null && { previousExpiresAt: toTime(previousExpiresAt) }),
  };
}
